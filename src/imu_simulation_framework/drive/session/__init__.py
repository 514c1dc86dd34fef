"""Parts of an experiment without messages; the nodes and the experiment without ROS call them."""
