"""The folder of a run: its record, its rows and recordings in shards, and functions that read them."""
