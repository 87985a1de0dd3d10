"""Policies: encodings of observations, networks, and policy files. This package needs neither PyTorch nor Gymnasium to run a
policy.
"""
