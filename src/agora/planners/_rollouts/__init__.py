"""Parts that planners share which score roll-outs on the local costmap: wavefronts, poses and their costs."""
