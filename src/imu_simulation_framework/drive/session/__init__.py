"""Parts of an experiment between messages, which nodes and the experiment without ROS call."""
