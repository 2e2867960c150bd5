"""The agent side of AG-UI, without Django or a database; the engine implements `port.py`."""
