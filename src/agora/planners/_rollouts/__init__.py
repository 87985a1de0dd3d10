"""Shared parts of planners that score roll-outs on the local costmap: wavefronts, poses and their costs."""
