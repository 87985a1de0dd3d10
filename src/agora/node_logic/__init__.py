"""The logic of the ROS nodes, independent of ROS: crowd, robots in one world, referee, navigation, and Move Base Flex's actions."""
