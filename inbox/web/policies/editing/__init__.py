"""Changing the draft of a policy with forms."""
