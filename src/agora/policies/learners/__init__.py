"""PyTorch versions of the networks in `agora.policies.networks`, for training."""
