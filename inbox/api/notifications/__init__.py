"""REST: notifications."""
