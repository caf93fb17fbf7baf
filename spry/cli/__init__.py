"""The ``spry`` command: run programs, look at their graphs, list the options."""
