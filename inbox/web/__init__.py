"""The web inbox: HTML for people."""
