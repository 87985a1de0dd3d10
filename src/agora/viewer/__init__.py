"""Pictures, figures, replays, videos and windows of episodes and places."""
