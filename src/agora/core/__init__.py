"""Arrays, records of arrays, and basic computations on them: motion, contacts, compilation, recordings."""
