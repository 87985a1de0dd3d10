"""The batched world."""
