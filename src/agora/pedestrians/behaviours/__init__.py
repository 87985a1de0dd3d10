"""Behaviours, in one module or package each. They set goals, speeds and social states before a crowd model moves the
pedestrians.
"""
