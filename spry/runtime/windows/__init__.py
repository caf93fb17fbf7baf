"""Window operators: the general one, and faster ones for the windows that most programs use."""
