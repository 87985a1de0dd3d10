"""Episodes as rosbags, suites played through a running graph, teleoperation."""
