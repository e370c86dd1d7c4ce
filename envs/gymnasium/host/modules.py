"""Imports modules by their names or files, or says in one line why not."""

import difflib
import importlib
import importlib.util
import os
import pkgutil
import sys

from .errors import Refused, told


def load(name, what):
    """A module, by its name or by the path of its file, which ends in .py."""
    try:
        return load_file(name) if name.endswith(".py") else importlib.import_module(name)
    except (Exception, SystemExit) as error:
        why = missing(name, error) or told(error)
        raise Refused("TypeError", "Cannot import %s: %s" % (what, why)) from error


def load_file(path):
    """The module of a file. Others know it by the file's name, as `import` would,
    and it finds what lies beside it."""
    path = os.path.realpath(path)
    if not os.path.isfile(path):
        raise ImportError("there is no such file")
    own = os.path.basename(path)[: -len(".py")]
    # A dot would stand for a package.
    name = own.replace(".", "_")
    known = sys.modules.get(name)
    if getattr(known, "__file__", None) == path:
        return known
    spec = known or importlib.util.find_spec(name)
    if spec is not None and getattr(spec, "origin", None) != path:
        raise ImportError("another module of Python has the name '%s': rename the file" % name)
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    folder = os.path.dirname(path)
    if folder not in sys.path:
        # Last, so that it hides nothing that is installed.
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    # What it registers may name it so: `env.v2:Walk` of env.v2.py.
    sys.modules.setdefault(own, module)
    return module


def missing(name, error):
    """Why a module is not found, if it is that one and not one that it imports."""
    absent = error.name if isinstance(error, ModuleNotFoundError) else None
    if absent is None or not (name + ".").startswith(absent + "."):
        return None
    parent, _, last = absent.rpartition(".")
    # The folder that the program is run in is not searched.
    if not parent and os.path.isfile(absent + ".py"):
        return "Python does not look for it in the current folder; name its file: ./%s.py" % absent
    folders = sys.modules[parent].__path__ if parent in sys.modules else None
    there = [it.name for it in pkgutil.iter_modules(folders)]
    near = nearest(last, there)
    if near is not None:
        whole = ".".join(filter(None, (parent, near))) + name[len(absent) :]
        return "there is no '%s'; did you mean '%s'?" % (absent, whole)
    if parent:
        return "there is no '%s'; there are %s" % (absent, ", ".join(there))
    return "there is no '%s'; install its package with '%s -m pip install'" % (
        absent,
        sys.executable,
    )


def nearest(name, names):
    """The nearest of some names, if there is one."""
    lower = {it.lower(): it for it in names}
    near = difflib.get_close_matches(name.lower(), lower, 1)
    return lower[near[0]] if near else None


def hint(name, names):
    """Which name may be meant, for the end of a message."""
    near = nearest(name, names)
    if near is not None:
        return "did you mean '%s'?" % near
    shown = sorted(names)[:SHOWN]
    more = ", ..." if len(names) > SHOWN else ""
    return "expected one of %s%s" % (", ".join(shown), more) if shown else "there are none"


# Names that a message lists.
SHOWN = 10
