"""Claims, comments, mentions and snoozes: how people share the work on requests."""
