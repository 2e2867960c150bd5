"""Policies: who must decide about a tool call, and when a rule decides."""
