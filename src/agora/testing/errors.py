"""The error for a broken contract."""

from agora.errors import AgoraError


class ContractError(AgoraError, AssertionError):
    """A component violates the contract of its kind; the message gives the clause, the place and the values."""
