"""State inside a slot: keyed state and its backends, operator state, time to live."""
