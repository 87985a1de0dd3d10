"""Behaviours: one module or package for each. It sets goals, speeds and social states before a crowd model moves pedestrians."""
