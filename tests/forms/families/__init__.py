"""Schemas and values by where they come from."""
