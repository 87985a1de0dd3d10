"""What a policy sees, the networks that answer, and the files that keep them; needs neither torch nor Gymnasium."""
