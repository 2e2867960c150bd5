"""The agent SDK: tools with declared effects, workflows, scripted and model-driven agents."""
