"""The ways from page to page: the rail, and the settings of a team."""
