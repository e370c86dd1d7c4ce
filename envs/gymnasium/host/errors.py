"""Errors that are the caller's, and how errors are told in one line."""

import os
import sysconfig
import traceback


class Refused(Exception):
    """Something that the caller did wrong, with a class of error of its own."""

    def __init__(self, kind, message, **more):
        super().__init__(message)
        self.kind = kind
        self.more = more


class EnvDataError(Exception):
    """Data of an environment that cannot be used: the host is not replaced over it."""


def first_line(error):
    """The first line of an error's message, and where in a person's code it arose."""
    is_syntax = isinstance(error, SyntaxError) and error.msg
    try:
        lines = str(error.msg if is_syntax else error).strip().splitlines()
    except Exception:
        lines = ["its message cannot be shown"]
    line = lines[0] if lines else ""
    if len(line) > LONGEST:
        line = line[: LONGEST - 3] + "..."
    return (line + place(error)).strip()


# Letters of a message that are told.
LONGEST = 500


def told(error):
    """The class and the first line of an error."""
    return ("%s: %s" % (type(error).__name__, first_line(error))).rstrip(": ")


def place(error):
    """File and line of the innermost code that is of no installed package."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    own = [it for it in places if is_own(it[0])]
    return " (%s:%s)" % own[-1] if own else ""


def is_own(path):
    """Whether a file is neither of this host nor of an installed package."""
    library = sysconfig.get_path("stdlib")
    return (
        os.path.isabs(path)
        and not path.startswith(library + os.sep)
        and "site-packages" not in path
        and "dist-packages" not in path
    )
