"""Stand-alone tools; each file runs without the rest of the repository."""
