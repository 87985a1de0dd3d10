"""Local planners: from an observation to a twist. A planner is a module, or a package that exports its class."""
