"""WebSockets: they only send, but for the first frame of an AG-UI run."""
