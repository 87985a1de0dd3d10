"""Robot models, which are loaded from configs/robots, and their descriptions for other simulators and ROS."""
