"""Parts of planners that score roll-outs on the local costmap."""
