"""Hooks of coding agents: a tool call of theirs waits for people, and runs as it was approved."""
