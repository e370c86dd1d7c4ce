"""Files of a run, which go to a node and come back while they grow. runs.py follows this text."""

import fcntl, glob, os, shutil, stat, tempfile

PART, LARGE = 1 << 24, 1 << 22  # Bytes that are sent at once; that wait for a checkpoint.
CHECKPOINTS, RESULT = "checkpoints" + os.sep, "run.json"
STAY = (".tmp", ".lock")


def make_folder():
    """Makes a folder for a run on a node, with a lock that goes with this process, and
    removes those of processes that are gone."""
    for old in glob.glob(os.path.join(tempfile.gettempdir(), "bellman-run-*", "lock")):
        try:
            with open(old, "r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(os.path.dirname(old), ignore_errors=True)
        except OSError:  # It is in use, or somebody else's.
            continue
    made = tempfile.mkdtemp(prefix="bellman-run-")
    lock = open(os.path.join(made, "unlocked"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(lock.name, os.path.join(made, "lock"))
    return made, lock


def files_of(folder):
    """Finds the files that have their whole names, with what tells their states apart.
    Checkpoints come first: what they need is in the other files by then."""
    found = {}
    for top in (os.path.join(folder, CHECKPOINTS), folder):
        for at, folders, names in os.walk(top):
            if at == folder:
                folders[:] = [it for it in folders if it + os.sep != CHECKPOINTS]
            for path in (os.path.join(at, it) for it in names if not it.endswith(STAY)):
                try:
                    about = os.lstat(path)
                except FileNotFoundError:  # It was removed meanwhile.
                    continue
                if stat.S_ISREG(about.st_mode):
                    found[os.path.relpath(path, folder)] = (about.st_ino, about.st_mtime_ns, about.st_size)
    return found


def changes_of(seen, found, is_last):
    """Names that are to be sent. Large files wait for a checkpoint: they are for resuming."""
    changed = [it for it in found if found[it] != seen.get(it)]
    if is_last or any(it.startswith(CHECKPOINTS) for it in changed):
        return changed
    return [it for it in changed if found[it][2] < LARGE or it not in seen]


def parts_of(folder, names):
    """Yields files in parts. Checkpoints, which are never written to, are opened at once
    and come after the files that they need; the result of the run comes last."""
    def opened(name):
        try:
            return open(os.path.join(folder, name), "rb")
        except FileNotFoundError:
            return None

    names = sorted(names, key=lambda it: (it == RESULT, it.startswith(CHECKPOINTS), it))
    held = {it: opened(it) for it in names if it.startswith(CHECKPOINTS)}
    for name in names:
        file = held[name] if name in held else opened(name)
        while file:
            data = file.read(PART)
            last = file.tell() >= os.fstat(file.fileno()).st_size
            yield name, file.tell() - len(data), data, last
            if last:
                file.close()
                break


def some_of(parts):
    """Takes parts, as many as are sent at once; none at the end."""
    taken, size = [], 0
    while size < PART and (part := next(parts, None)):
        taken.append(part)
        size += len(part[2])
    return taken


def drop_parts(folder):
    """Removes what is left of files that never came whole."""
    for path in glob.glob(os.path.join(glob.escape(folder), "**", "*.part.tmp"), recursive=True):
        os.remove(path)


def change(folder, parts, removed=()):
    """Writes parts of files, each of which takes its name once it is whole, and removes
    others. Names lead out of the folder nowhere."""
    for name in (*(it[0] for it in parts), *removed):
        if os.path.isabs(name) or name != os.path.normpath(name) or name.startswith(os.pardir):
            raise OSError(f"'{name}' is no file of a run")
    for name, at, data, last in parts:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part.tmp", "ab" if at else "wb") as file:
            file.write(data)
        if last:
            os.replace(path + ".part.tmp", path)
    for name in removed:
        if os.path.lexists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
