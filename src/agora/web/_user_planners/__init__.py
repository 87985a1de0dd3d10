"""Users' policies and planners, trained on a server or uploaded to it."""
