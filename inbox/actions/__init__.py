"""Every write, one function per intent: lock first, read after, audit in the same transaction."""
