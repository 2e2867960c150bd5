"""The display of requests, without pages."""
