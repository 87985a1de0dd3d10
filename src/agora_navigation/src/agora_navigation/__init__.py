"""The navigation node, which runs global planner, interplanner and local planner, and the Move Base Flex client."""
