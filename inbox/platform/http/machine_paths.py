"""The paths that programs call, whose responses are for no reader."""

#: Clients may match error texts, so these are in English, and errors are no pages.
FOR_MACHINES = ("/api/", "/agui/", "/scim/", "/healthz")
