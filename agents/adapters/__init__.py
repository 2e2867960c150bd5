"""Agents that others wrote, behind the port of ours."""
