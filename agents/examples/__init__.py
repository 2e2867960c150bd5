"""Agents to read and to copy: each is short, needs no model, and runs in the demo."""
