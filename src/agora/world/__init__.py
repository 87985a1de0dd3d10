"""The state of a batch of worlds, apart from the code that moves it: records, starts of episodes, maps."""
