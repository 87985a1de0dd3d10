"""Behaviours, one module or package each: they set goals, speeds and social states before a crowd model moves pedestrians."""
