"""REST and the AG-UI door over HTTP."""
