"""Assigning, mentioning and snoozing on pages."""
