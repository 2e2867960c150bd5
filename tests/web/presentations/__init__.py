"""Pages of requests as facts to read."""
