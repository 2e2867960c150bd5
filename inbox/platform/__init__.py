"""Overrides of frameworks, and infrastructure that the layers above share."""
