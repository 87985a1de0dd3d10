"""Accounts of a server: people, their roles, keys, possessions and quotas."""
