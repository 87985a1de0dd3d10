"""The state of a batch of worlds: records, starts of episodes, and maps, without the code that advances them."""
