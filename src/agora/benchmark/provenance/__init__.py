"""What decides results, and what made them: input files, packages with their code, planners, the machine."""
