"""Lists of requests."""
