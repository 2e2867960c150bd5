"""Forms for JSON Schemas, planned, rendered and read on the server."""
