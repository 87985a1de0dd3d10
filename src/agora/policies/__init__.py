"""Policies: encodings of observations, networks, and files; needs neither PyTorch nor Gymnasium."""
