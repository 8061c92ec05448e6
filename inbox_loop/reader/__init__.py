"""Reading a downloaded message in a process of its own, within limits of time and memory."""
