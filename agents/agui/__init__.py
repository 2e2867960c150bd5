"""The AG-UI wire format: strict JSON, the codec, the sequence rules and conversations."""
