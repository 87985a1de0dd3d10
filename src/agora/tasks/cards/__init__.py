"""The scenario library: cards by family, one file each."""
