"""Running a suite under planners: requests, jobs and executors, and the results that a run leaves in its folder."""
