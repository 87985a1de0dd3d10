"""The networks of `agora.policies.networks` in PyTorch, for training."""
