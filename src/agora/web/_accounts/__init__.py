"""Accounts on a server: people and their roles, keys, owned content and quotas."""
