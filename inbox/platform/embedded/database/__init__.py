"""Django's SQLite backend, with a queue in front of the only writer that SQLite has."""
