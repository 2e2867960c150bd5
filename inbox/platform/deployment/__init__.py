"""Secrets of the environment, access to Redis, and checks of a deployment."""
