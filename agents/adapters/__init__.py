"""Adapters for remote agents and for agents of other frameworks."""
