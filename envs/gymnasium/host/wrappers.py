"""Puts wrappers of Python around environments, or says in one line why not."""

import inspect

import gymnasium as gym

from .errors import Refused, told
from .modules import hint, load


def wrapped(env, wrapper, name):
    """An environment with a wrapper, `module:Name`, around it."""
    whole, kwargs = wrapper["name"], wrapper["kwargs"]

    def refuse(why, cause=None):
        raise Refused(
            "TypeError", "Cannot wrap '%s' by '%s': %s" % (name, whole, why)
        ) from cause

    # Files of rl-baselines3-zoo write a dot between them.
    module, _, attribute = whole.rpartition(":" if ":" in whole else ".")
    if not module or whole.endswith(".py"):
        refuse("expected a module and a class, such as gymnasium.wrappers:FlattenObservation")
    found = load(module, "'%s' for the wrapper '%s'" % (module, whole))
    wrap = getattr(found, attribute, None)
    if wrap is None:
        refuse("the module has none of that name; %s" % hint(attribute, wrappers_of(found)))
    is_class = inspect.isclass(wrap)
    if not (issubclass(wrap, gym.Wrapper) if is_class else callable(wrap)):
        refuse(
            "it is no wrapper of an environment; %s" % hint(attribute, wrappers_of(found))
        )
    try:
        inspect.signature(wrap).bind(env, **kwargs)
    except TypeError as error:
        refuse(misfit(wrap, kwargs, error), error)
    except ValueError:
        pass  # Native code tells no signature.
    try:
        outer = wrap(env, **kwargs)
    except (Exception, SystemExit) as error:
        refuse(told(error), error)
    if not isinstance(outer, gym.Env):
        refuse("it returned an object of type '%s': expected an environment" % type(outer).__name__)
    return outer


def wrappers_of(module):
    """Names of the wrappers of a module."""
    return [
        name
        for name, it in vars(module).items()
        if inspect.isclass(it) and issubclass(it, gym.Wrapper) and not name.startswith("_")
    ]


def misfit(wrap, kwargs, error):
    """Why arguments do not fit, with the nearest name of an unknown one."""
    names = list(inspect.signature(wrap).parameters)[1:]
    unknown = [it for it in kwargs if it not in names]
    if "unexpected" in str(error) and unknown:
        return "it has no argument '%s'; %s" % (unknown[0], hint(unknown[0], names))
    return str(error)
