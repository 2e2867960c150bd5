"""The one error for events that the protocol does not allow."""


class ProtocolViolation(ValueError):
    """An event that a consumer would refuse or misread; the text says what would be right."""
