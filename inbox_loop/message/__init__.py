"""A message, free of wire formats: its model, and how bytes become clean text. Pure."""
