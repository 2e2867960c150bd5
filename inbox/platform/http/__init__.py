"""Changes of the HTTP server and of what it serves."""
