"""Accounts of a server: people and their roles, their keys, what they own, and how much they may have."""
