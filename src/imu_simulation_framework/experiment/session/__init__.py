"""What the parts of an experiment do between messages: called by nodes, and in one process.

None of them knows ROS, threads or the wall clock; whoever calls one from several threads locks it.
"""
