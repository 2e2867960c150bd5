"""Every read that the outside needs; what an actor may not see is not found."""
