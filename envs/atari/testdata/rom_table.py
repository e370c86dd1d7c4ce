"""Writes ../emulator/roms.json and gymnasium_ids.txt from an installed ale-py.

    .venv/env-peers/bin/python envs/atari/testdata/rom_table.py
    deno fmt envs/atari/emulator/roms.json

Each game is loaded in a process of its own: ale-py ends the process on some.
"""

import json
import pathlib
import re
import subprocess
import sys

import ale_py
import gymnasium
from ale_py import registration, roms

FOLDER = pathlib.Path(roms.__file__).parent
HASHES = json.loads((FOLDER / "md5.json").read_text())
SOURCE = pathlib.Path(registration.__file__).read_text()


def listed(pattern):
    """The names between quotes in what the pattern finds."""
    return re.findall(r'"(\w+)"', re.search(pattern, SOURCE, re.S).group(1))


LEGACY = listed(r"legacy_games = \[(.*?)\]")
TWO_PLAYERS = listed(r"if rom in \{(.*?)\}")

FACTS = """
import json, sys, ale_py
from ale_py import roms
ale = ale_py.ALEInterface()
ale.setLoggerMode(ale_py.LoggerMode.Error)
ale.loadROM(roms.get_rom_path(sys.argv[1]))
ale.reset_game()
# Before the first frame, some games have not told their lives yet.
for _ in range(2):
    ale.act(ale_py.Action.NOOP)
print(json.dumps([
    [int(it) for it in ale.getAvailableModes()],
    [it.value for it in ale.getMinimalActionSet()],
    ale.lives(),
]))
"""


def facts(rom):
    command = [sys.executable, "-c", FACTS, rom]
    return json.loads(subprocess.run(command, capture_output=True).stdout)


def ranges(numbers):
    """Whole numbers as text: 0-3 for 0, 1, 2, 3."""
    text, start = [], 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[i - 1] + 1:
            first, last = numbers[start], numbers[i - 1]
            text.append(f"{first}" if first == last else f"{first}-{last}")
            start = i
    return " ".join(text)


def entry(rom):
    modes, actions, lives = facts(rom)
    size = (FOLDER / f"{rom}.bin").stat().st_size
    return {
        "md5": HASHES[f"{rom}.bin"],
        "size": size,
        "modes": ranges(modes),
        "minimalActions": ranges(actions),
        "lives": lives,
        "isLegacy": rom in LEGACY,
    }


games = [name.removesuffix(".bin") for name in HASHES]
single = sorted(game for game in games if game not in TWO_PLAYERS)
target = pathlib.Path(__file__).parent.parent / "emulator" / "roms.json"
table = {
    "version": ale_py.__version__.split("+")[0],
    "games": {game: entry(game) for game in single},
}
target.write_text(json.dumps(table, indent=2) + "\n")

gymnasium.register_envs(ale_py)
ids = []
for id, spec in gymnasium.registry.items():
    if spec.entry_point != "ale_py.env:AtariEnv":
        continue
    it = spec.kwargs
    skip = it["frameskip"]
    ids.append(
        f"{id} {it['game']} {json.dumps(skip).replace(' ', '')}"
        f" {it['repeat_action_probability']} {it['max_num_frames_per_episode']}\n"
    )
listing = pathlib.Path(__file__).parent / "gymnasium_ids.txt"
listing.write_text("".join(sorted(ids)))
