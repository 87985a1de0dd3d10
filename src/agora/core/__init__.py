"""Arrays, their records, and basic computations on them: motion, contacts, compilation, recordings."""
