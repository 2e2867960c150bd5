"""Example agents: each is short, needs no model, and runs in the demo."""
