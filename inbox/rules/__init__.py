"""Pure rules: plain data in, an answer or a named error out. No clock, no database, no Django."""
