"""The AG-UI wire: strict JSON, the codec, the sequence rules and what a conversation becomes."""
