"""A roadmap of poses of a legged robot: one file each part."""
