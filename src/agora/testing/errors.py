"""The error of a contract that is not kept."""

from agora.errors import AgoraError


class ContractError(AgoraError, AssertionError):
    """A component breaks the contract of its kind; the message says which clause, where, and with what values."""
