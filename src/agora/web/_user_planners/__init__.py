"""Policies and planners of users: trained on a server or uploaded to it."""
