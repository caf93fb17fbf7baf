"""What runs inside a slot: blocks, gates, operators, state. Imports nothing of Spark."""
