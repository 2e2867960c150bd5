"""Receiving, storing and previewing files."""
