"""Local planners: they compute a twist from an observation. Each planner is a module, or a package that exports its class."""
