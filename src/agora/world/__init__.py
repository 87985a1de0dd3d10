"""The state of a batch of worlds, apart from what moves it: records, where episodes begin, which maps they are on."""
