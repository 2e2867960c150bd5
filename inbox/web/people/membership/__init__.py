"""Pages about the end of memberships and sessions, and how members must sign in."""
