"""The sources of results: input files, packages with their code, planners, and the machine."""
