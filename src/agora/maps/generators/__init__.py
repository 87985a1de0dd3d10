"""Map generators: they create places from parameters and a random stream."""
