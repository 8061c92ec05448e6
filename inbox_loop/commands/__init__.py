"""One short file per sub-command: arguments and one call. ``wiring.py`` is the only place that knows everybody."""
