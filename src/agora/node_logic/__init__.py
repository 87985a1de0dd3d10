"""The logic of ROS nodes, without ROS: crowd, robots of one world, referee, navigation, and Move Base Flex's actions."""
