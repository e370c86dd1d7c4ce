"""Has the name of a module of Python."""
