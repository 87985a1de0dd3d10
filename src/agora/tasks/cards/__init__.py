"""The scenario library: cards, with one file per family."""
