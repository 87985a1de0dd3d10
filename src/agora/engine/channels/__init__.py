"""The library's own channels: one file for each, with all that it is made of."""
