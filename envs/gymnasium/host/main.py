"""Hosts copies of a Gymnasium environment for the process that started this one.

The first byte of a message says what is wanted, that of an answer (of 8 bytes in
all) whether it could be done. The handshake, errors and the bookkeeping of
snapshots are JSON; resets and steps are raw little-endian arrays:

    step      actions: for each leaf of the space the rows of all copies
    answer    observations likewise, then the masks of actions if there are some,
              rewards, terminated, truncated, each padded to eight bytes; then
              the final observations and masks of the copies that ended, row by
              row, if those are reset; then the info as JSON, of a single
              environment that has some
    goals     which function, the rows of goals that were achieved, and those of the
              desired ones
    answer    a number for each row
"""

import json
import os
import select
import signal
import struct
import sys
import threading
import time
import traceback

from .errors import Refused, first_line
from .pipes import Pipes

PROTOCOL = 1
OPEN, RESET, STEP, SNAPSHOT, RESTORE, RENDER, GOALS = range(1, 8)
FINE, FAILED = 0, 1


# How long this process may take to end by itself once its parent is gone.
GRACE = 3


def end_with_parent(source):
    """Ends this process with the one that started it, in the midst of a step too:
    the end of its input is seen between steps only. (On Windows that is all there
    is, as orphans keep the number of their parent.)"""
    parent = os.getppid()
    arm_alarm()

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        time.sleep(GRACE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    # It may have ended before it could be watched.
    if hasattr(select, "poll"):
        input = select.poll()
        input.register(source, 0)
        if input.poll(0):
            raise SystemExit(1)


def arm_alarm():
    """Has Linux end this process some seconds after its parent, even where native
    code holds the interpreter's lock, so that no line of Python is run any more:
    the death of the parent raises signal 3 (SIGQUIT), which C's own `alarm`
    handles, as it takes the number of the signal for seconds."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        libc.signal.restype = ctypes.c_void_p
        libc.signal(GRACE, ctypes.cast(libc.alarm, ctypes.c_void_p))
        libc.prctl(PR_SET_PDEATHSIG, GRACE, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # The thread is there.


PR_SET_PDEATHSIG = 1


def leave_signals_to_parent():
    """Goes on when a signal that ends a job reaches all of its processes, as Ctrl-C
    does: the parent may still want a snapshot. What an environment forks is ended
    by such signals as usual, and so is what it executes."""
    host = os.getpid()

    def ignore(number, _):
        if os.getpid() != host:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and os.name != "nt":
            signal.signal(getattr(signal, name), ignore)


# What must be there, and what to install, by the scheme of an id.
PACKAGES = {
    "gym": ("Gymnasium", "gymnasium"),
    "pz": ("PettingZoo", '"pettingzoo[classic]"'),
}


def open_copies(settings):
    """The copies that a host was asked for."""
    if settings["protocol"] != PROTOCOL:
        raise Refused(
            "TypeError",
            "Cannot speak protocol %s: this host speaks %d"
            % (settings["protocol"], PROTOCOL),
        )
    title, package = PACKAGES[settings["scheme"]]
    try:
        import gymnasium

        __import__(title.lower())
    except ImportError as error:
        raise Refused(
            "TypeError",
            "Cannot import %s in %s (Python %d.%d): %s. Run '%s -m pip install %s', or %s"
            % (
                title,
                sys.executable,
                *sys.version_info[:2],
                error,
                sys.executable,
                package,
                settings["otherPython"],
            ),
        ) from error
    from .copies import Copies
    from .making import load_modules

    load_modules(settings)
    told = {"protocol": PROTOCOL, "gymnasium": gymnasium.__version__}
    return told, Copies(settings)


class Host:
    """Does what the messages say, until there are no more."""

    def __init__(self):
        leave_signals_to_parent()
        self.pipes = Pipes()
        end_with_parent(self.pipes.source)
        self.copies = None

    def serve(self):
        while True:
            message = self.pipes.receive()
            if message is None:
                break
            try:
                self.obey(message[0], message[1:])
            except BaseException as error:
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
            settings = json.loads(data)
            told, self.copies = open_copies(settings)
            told.update(self.copies.describe())
            self.fine(json.dumps(told).encode())
        elif order == SNAPSHOT:
            header, log, observations = copies.snapshot()
            sizes = struct.pack("<II", len(header), len(log))
            self.fine(sizes, header, log, observations)
        elif order == RESTORE:
            first, second = struct.unpack_from("<II", data)
            header, rest = data[8 : 8 + first], data[8 + first :]
            copies.restore(header, rest[:second], rest[second:])
            self.fine()
        elif order == RENDER:
            self.fine(*copies.render(struct.unpack("<I", data)[0]))
        elif order == GOALS:
            self.fine(copies.judge(data))
        else:
            raise ValueError("there is no order %d" % order)

    def fine(self, *parts):
        self.pipes.send(bytes((FINE,)) + bytes(7), *parts)

    def tell(self, error):
        """Sends an error with its traceback."""
        refused = isinstance(error, Refused)
        kind = type(error)
        text = "".join(traceback.format_exception(kind, error, error.__traceback__))
        told = {
            "name": error.kind if refused else type(error).__name__,
            "message": str(error) if refused else first_line(error),
            "isRefusal": refused,
            "traceback": text,
            "known": error.more.get("known") if refused else None,
        }
        self.pipes.send(bytes((FAILED,)) + bytes(7), json.dumps(told).encode())
