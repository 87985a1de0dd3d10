"""Pictures, figures, replays, videos and live windows that show episodes and places."""
