"""Signoff and the AG-UI servers of agent frameworks, each in an environment of its own."""
