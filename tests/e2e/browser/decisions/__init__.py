"""Requests and their lists in Chromium."""
