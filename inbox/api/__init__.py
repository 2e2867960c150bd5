"""The REST API, and AG-UI over HTTP."""
