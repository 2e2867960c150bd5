"""How pages show a request: its facts, and teams' presentations of tools."""
