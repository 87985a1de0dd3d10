"""Robot models, loaded from configs/robots."""
