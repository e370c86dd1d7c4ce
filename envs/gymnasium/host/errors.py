"""Errors that are the caller's."""


class Refused(Exception):
    """Something that the caller did wrong, with a class of error of its own."""

    def __init__(self, kind, message, **more):
        super().__init__(message)
        self.kind = kind
        self.more = more


class EnvDataError(Exception):
    """Data of an environment that cannot be used: the host is not replaced over it."""


def first_line(error):
    """The first line of an error's message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""
