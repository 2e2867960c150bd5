"""Signoff as the official AG-UI JavaScript client sees it."""
