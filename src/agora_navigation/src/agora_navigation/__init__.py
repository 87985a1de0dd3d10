"""The navigation node (global planner, interplanner, local planner) and the Move Base Flex client."""
