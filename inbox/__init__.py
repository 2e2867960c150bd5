"""The inbox: everything that shares a transaction, and the doors to it."""
