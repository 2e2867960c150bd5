"""The command `signoff`."""
