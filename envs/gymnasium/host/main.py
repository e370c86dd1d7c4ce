"""Hosts copies of a Gymnasium environment for the process that started this one.

The first byte of a message says what is wanted, that of an answer (of 8 bytes in
all) whether it could be done. The handshake, errors and the bookkeeping of
snapshots are JSON; resets and steps are raw little-endian arrays:

    step      actions: for each leaf of the space the rows of all copies
    answer    observations likewise, rewards, terminated, truncated, each padded
              to eight bytes; then the final observations of the copies that
              ended, row by row, if those are reset; then the info as JSON, of
              a single environment that has some
"""

import json
import os
import signal
import struct
import sys
import threading
import time
import traceback

from .errors import Refused, first_line
from .pipes import Pipes

PROTOCOL = 1
OPEN, RESET, STEP, SNAPSHOT, RESTORE, RENDER, SWITCH = range(1, 8)
FINE, FAILED = 0, 1


def make_pipes(paths):
    """Makes named pipes, where they are wanted and possible; whether they are there."""
    try:
        for path in paths:
            os.mkfifo(path, 0o600)
        return len(paths) > 0
    except (AttributeError, OSError):
        return False


def end_with_parent():
    """Ends this process with the one that started it, in the midst of a step too:
    the end of its input is seen between steps only. (Where orphans keep the number
    of their parent, as on Windows, that is all there is.)"""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def open_copies(settings):
    """The copies that a host was asked for."""
    if settings["protocol"] != PROTOCOL:
        raise Refused(
            "TypeError",
            "Cannot speak protocol %s: this host speaks %d"
            % (settings["protocol"], PROTOCOL),
        )
    try:
        import gymnasium
    except ImportError as error:
        raise Refused(
            "TypeError",
            "Cannot import Gymnasium in %s (Python %d.%d): %s. Run '%s -m pip install"
            " gymnasium', or %s"
            % (
                sys.executable,
                *sys.version_info[:2],
                error,
                sys.executable,
                settings["otherPython"],
            ),
        ) from error
    from .copies import Copies
    from .making import load_modules

    load_modules(settings)
    told = {
        "protocol": PROTOCOL,
        "gymnasium": gymnasium.__version__,
        "hasPipes": make_pipes(settings["pipes"]),
    }
    return told, Copies(settings)


class Host:
    """Does what the messages say, until there are no more."""

    def __init__(self):
        # Ctrl-C reaches all processes of a terminal: it is the parent's to handle.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_with_parent()
        self.pipes = Pipes()
        self.copies = None

    def serve(self):
        while True:
            message = self.pipes.receive()
            if message is None:
                break
            try:
                self.obey(message[0], message[1:])
            except Exception as error:
                self.tell(error)
        if self.copies is not None:
            self.copies.close()

    def obey(self, order, data):
        copies = self.copies
        if order == STEP:
            copies.step(data)
            copies.answer.send(self.pipes)
        elif order == RESET:
            count = len(data) // 8
            copies.reset(struct.unpack("<%dQ" % count, data) if count else None)
            copies.answer.send(self.pipes)
        elif order == OPEN:
            versions, self.copies = open_copies(json.loads(data))
            self.fine(json.dumps({**versions, **self.copies.describe()}).encode())
        elif order == SNAPSHOT:
            header, log, observations = copies.snapshot()
            sizes = struct.pack("<II", len(header), len(log))
            self.fine(sizes, header, log, observations)
        elif order == RESTORE:
            first, second = struct.unpack_from("<II", data)
            header, rest = data[8 : 8 + first], data[8 + first :]
            copies.restore(header, rest[:second], rest[second:])
            self.fine()
        elif order == SWITCH:
            fast = self.pipes.switch(*json.loads(data))
            self.fine()
            self.pipes.fast = fast
        elif order == RENDER:
            self.fine(*copies.render(struct.unpack("<I", data)[0]))
        else:
            raise ValueError("there is no order %d" % order)

    def fine(self, *parts):
        self.pipes.send(bytes((FINE,)) + bytes(7), *parts)

    def tell(self, error):
        """Sends an error with its traceback."""
        refused = isinstance(error, Refused)
        text = "".join(
            traceback.format_exception(type(error), error, error.__traceback__)
        )
        told = {
            "name": error.kind if refused else type(error).__name__,
            "message": str(error) if refused else first_line(error),
            "isRefusal": refused,
            "traceback": text,
            "known": error.more.get("known") if refused else None,
        }
        self.pipes.send(bytes((FAILED,)) + bytes(7), json.dumps(told).encode())
