"""The language of policies: documents, business hours, and sentences about rules."""
