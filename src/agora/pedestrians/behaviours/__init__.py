"""Behaviours, each in its own module or package. They set goals, speeds and social states before a crowd model moves the
pedestrians.
"""
