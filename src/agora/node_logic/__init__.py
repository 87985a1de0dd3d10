"""The logic of the ROS nodes, independent of ROS: the crowd, the robots of one world, the referee, navigation, and Move Base Flex's
actions.
"""
