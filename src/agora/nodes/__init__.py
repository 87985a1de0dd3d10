"""The parts that cut the episode loop into nodes: crowd, robots of one world, referee, navigation. None of them needs ROS."""
