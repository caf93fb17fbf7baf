"""Sources and sinks that come with Spry; each lives in a module of its own."""
