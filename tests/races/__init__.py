"""Races between people, clients and workers, on PostgreSQL with a connection for each of them."""
