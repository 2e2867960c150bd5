"""The error for events that the protocol does not allow."""


class ProtocolViolation(ValueError):
    """An event that a consumer would reject or misread; the text says what to send instead."""
