"""Records episodes as rosbags, runs suites through a running graph, and provides teleoperation."""
