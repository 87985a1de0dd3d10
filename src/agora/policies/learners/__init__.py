"""The networks of `agora.policies.networks` in PyTorch, to be trained."""
