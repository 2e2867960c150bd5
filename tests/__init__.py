"""Everything that holds Signoff to its word, and what that needs to run on a bare machine."""
