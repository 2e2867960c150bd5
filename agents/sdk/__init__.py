"""The agent SDK: tools with declared effects, and scripts that go on after a pause."""
