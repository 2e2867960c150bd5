"""Past calls of a team, and what its rules did or would have done to them."""
