"""Map generators: places from parameters and a random stream."""
