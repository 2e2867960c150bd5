"""WebSockets: updates for open pages, and runs over AG-UI."""
