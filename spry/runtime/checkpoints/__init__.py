"""Snapshots: how a slot writes down what its operators hold, and how that is found and read again."""
