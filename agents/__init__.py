"""The agent side of AG-UI: no Django and no database here; the engine lends what an agent needs."""
