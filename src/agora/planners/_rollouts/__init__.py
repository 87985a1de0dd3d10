"""Shared parts of planners that score roll-outs on the local costmap: wavefronts, and poses and their costs."""
