"""Makes environments, or says in one line why not."""

import copy
import importlib.util
import inspect

import gymnasium as gym
from gymnasium.envs import registration

from .errors import Refused, first_line, told
from .modules import load
from .wrappers import wrapped


def load_modules(settings):
    """Imports what registers environments: `module:Env-v0` names such a one, too."""
    prefix = settings["id"].rpartition(":")[0]
    for name in [*settings["modules"], *filter(None, [prefix])]:
        load(name, "the module '%s' for '%s'" % (name, settings["id"]))
    # Gymnasium's own robots, whose ids name no module.
    is_missing = settings["scheme"] == "gym" and not is_known(settings["id"])
    if is_missing and importlib.util.find_spec(ROBOTS):
        load(ROBOTS, "Gymnasium-Robotics")


ROBOTS = "gymnasium_robotics"


def is_known(name):
    """Whether something has registered a name."""
    try:
        return find_spec(name) is not None
    except gym.error.Error:
        return False


def find_spec(name):
    """What is registered by a name; without a version, the latest one."""
    name = name.rpartition(":")[2]
    if name not in gym.registry:
        space, label, version = registration.parse_env_id(name)
        if version is None:
            version = registration.find_highest_version(space, label)
            name = registration.get_env_id(space, label, version)
    return gym.spec(name)


def without_limit(name):
    """What is registered by a name, without its limit to the steps of an episode."""
    spec = copy.copy(find_spec(name))
    spec.max_episode_steps = None
    return spec


def can_draw(creator):
    """Whether what something makes can give pictures as arrays."""
    if isinstance(creator, str):
        creator = registration.load_env_creator(creator)
    metadata = getattr(creator, "metadata", None)
    if not isinstance(metadata, dict) or "rgb_array" not in (
        metadata.get("render_modes") or ()
    ):
        return False
    try:
        taken = inspect.signature(creator).parameters.values()
    except (TypeError, ValueError):
        return True  # Native code tells none.
    # Some say that they draw, and take no mode.
    return any(it.name == "render_mode" or it.kind == it.VAR_KEYWORD for it in taken)


def make(settings, envs):
    """Adds an environment with its wrappers to others, or says in one line why not."""
    name, kwargs = settings["id"], dict(settings["kwargs"])
    try:
        if settings["scheme"] == "pz":
            from .games import game

            envs.append(game(name, kwargs))
            return
        # What comes of a step is checked here, for every step.
        kwargs.setdefault("disable_env_checker", True)
        draws = settings["draws"] and "render_mode" not in kwargs
        if draws and can_draw(find_spec(name).entry_point):
            kwargs["render_mode"] = "rgb_array"
        # Before 1.0, Gymnasium itself takes that for a limit.
        is_endless = kwargs.get("max_episode_steps") == -1
        if is_endless:
            del kwargs["max_episode_steps"]
        envs.append(gym.make(without_limit(name) if is_endless else name, **kwargs))
        for wrapper in settings["wrappers"]:
            envs[-1] = wrapped(envs[-1], wrapper, name)
    except Refused:
        raise
    except gym.error.NamespaceNotFound as error:
        bare = name.rpartition(":")[2]
        raise Refused(
            "RangeError",
            "Unknown environment '%s': nothing has registered the namespace '%s'; put"
            " the Python module that does in front, as in 'module:%s', or name it in"
            " the option 'modules' (of a training configuration: envModules)"
            % (name, bare.partition("/")[0], bare),
        ) from error
    except (gym.error.NameNotFound, gym.error.VersionNotFound) as error:
        raise Refused("RangeError", first_line(error), known=list(gym.registry)) from error
    except (Exception, SystemExit) as error:
        raise Refused("Error", "Cannot make '%s': %s" % (name, told(error))) from error
