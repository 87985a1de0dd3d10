"""Records what results depend on: input files, packages with their code, planners, and the machine."""
