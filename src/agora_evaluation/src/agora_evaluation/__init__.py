"""The recorder node: episodes as rosbags."""
