"""Messages through the pipes of a process: eight bytes of mark, the length as four
bytes (little-endian), the message."""

import glob
import os
import shutil
import struct
import tempfile

try:
    import fcntl
except ImportError:  # On Windows, which has no named pipes either.
    fcntl = None

# Bytes that a write into a pipe puts there as a whole.
WHOLE_WRITE = 4096
MARK = bytes((0xF5, 0x42, 0x4C, 0x4D, 0x00, 0xFF, 0x1A, 0xFE))

ELSEWHERE = MARK + bytes(4)


PREFIX = "bellman-pipes-"


def open_pipe(path, mode):
    """Opens a named pipe that the other side has opened, without waiting for it:
    it may have died since."""
    pipe = os.open(path, mode | os.O_NONBLOCK)
    os.set_blocking(pipe, True)
    return pipe


class PipeFolder:
    """A temporary folder with named pipes in it, there until both sides have
    opened them. It is locked meanwhile, so that one whose process was killed can
    be told from one in use, and the next process removes it."""

    def __init__(self, names):
        remove_stale()
        while True:
            self.path = tempfile.mkdtemp(prefix=PREFIX)
            self.lock = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            if os.path.isdir(self.path):
                break
            # Another process took it for a stale one before it was locked.
            os.close(self.lock)
        for name in names:
            os.mkfifo(os.path.join(self.path, name), 0o600)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def remove_stale():
    """Removes the folders of processes that are no more."""
    for path in glob.glob(os.path.join(tempfile.gettempdir(), PREFIX + "*")):
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # Gone by now, or of another user.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass  # In use.
        finally:
            os.close(lock)


class Pipes:
    """The two pipes, out of the reach of what an environment prints or reads."""

    def __init__(self):
        self.source = os.dup(0)
        self.sink = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        if hasattr(os, "O_BINARY"):
            import msvcrt

            msvcrt.setmode(self.source, os.O_BINARY)
            msvcrt.setmode(self.sink, os.O_BINARY)
        self.rest = b""
        self.slow = self.fast = None

    def switch(self, source, sink=None):
        """Reads from a named pipe from now on; an empty message points to the other.

        Returns the one for answers, if there is one, which is used once it is `fast`.
        """
        self.slow, self.source = self.source, open_pipe(source, os.O_RDONLY)
        return None if sink is None else open_pipe(sink, os.O_WRONLY)

    def receive(self):
        """The next message; none at the end of the pipe."""
        message = self._receive()
        if message == b"" and self.slow is not None:
            # Too long for the named pipe.
            fast, self.source = self.source, self.slow
            message = self._receive()
            self.source = fast
        return message

    def _receive(self):
        data = self._read(12, self.rest)
        if data is None:
            return None
        if not data.startswith(MARK):
            raise SystemExit("the messages to this host are not of its protocol")
        end = 12 + struct.unpack_from("<I", data, 8)[0]
        data = self._read(end, data)
        if data is None:
            return None
        self.rest = data[end:]
        return data[12:end]

    def _read(self, size, data):
        """At least `size` bytes, the first of which have been read before."""
        if len(data) >= size:
            return data
        parts, have = [data], len(data)
        while have < size:
            piece = os.read(self.source, max(65536, size - have))
            if not piece:
                return None
            parts.append(piece)
            have += len(piece)
        return b"".join(parts)

    def send(self, *parts):
        """Sends a message of several parts."""
        length = sum(len(part) for part in parts)
        self.write(b"".join((MARK, struct.pack("<I", length), *parts)))

    def write(self, data):
        """Writes a message that already has its mark and length."""
        if self.fast is not None:
            if len(data) <= WHOLE_WRITE:
                os.write(self.fast, data)
                return
            os.write(self.fast, ELSEWHERE)
        data = memoryview(data)
        while data:
            data = data[os.write(self.sink, data):]
