import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { checkDeno } from "@bellman/files";
import { hintAt } from "@bellman/files/options";
import { installCommand, tellPermission } from "@bellman/files/installed";
import { ATARI_INSTALLATION, romFolder } from "./installed.ts";
import roms from "./roms.json" with { type: "json" };

/** A game and its ROM. */
export interface AtariGame {
  /** The ROM's file name without its ending, such as `space_invaders`. */
  readonly id: string;
  /** Its name in ids of environments, such as `SpaceInvaders`. */
  readonly name: string;
  /** MD5 of the ROM, 32 hexadecimal digits. */
  readonly md5: string;
  /** The ROM's bytes. */
  readonly size: number;
  /** Modes for one player; the first one is the game's own. */
  readonly modes: readonly number[];
  /** Actions that do something in the game, as numbers of the emulator. */
  readonly minimalActions: readonly number[];
  /** Lives at the start; games without lives have 0 or 1. */
  readonly lives: number;
  /** True where Gymnasium has environments of v0 and v4 of it. */
  readonly isLegacy: boolean;
}

/** Reads numbers from a text such as `0-3 128`. */
function numbersOf(text: string): number[] {
  return text.split(" ").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** Makes a name as Python's `str.title` does, which also raises a letter after a digit. */
function nameOf(id: string): string {
  return id.replace(/[a-z]+/g, (part) => part[0].toUpperCase() + part.slice(1))
    .replaceAll("_", "");
}

/** The games for one player whose ROMs ale-py carries, by id in alphabetic order. */
export const ATARI_GAMES: ReadonlyMap<string, AtariGame> = new Map(
  Object.entries(roms.games).map(([id, game]) => [id, {
    id,
    name: nameOf(id),
    ...game,
    modes: numbersOf(game.modes),
    minimalActions: numbersOf(game.minimalActions),
  }]),
);

/**
 * Finds a game.
 *
 * @param id The ROM's file name without its ending.
 * @returns The game.
 * @throws {RangeError} If there is none of that id, with the nearest one.
 * @example
 * ```ts
 * import { atariGame } from "@bellman/envs/atari";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => atariGame("brekout"), RangeError, "did you mean 'breakout'?");
 * ```
 */
export function atariGame(id: string): AtariGame {
  const game = ATARI_GAMES.get(id);
  if (game !== undefined) return game;
  const plain = id.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  const hint = hintAt(plain, [...ATARI_GAMES.keys()]);
  throw new RangeError(`Unknown game '${id}': ${hint}`);
}

/**
 * Finds the file of a game's ROM. Size and MD5 are checked, since the emulator ends
 * the process on a file that it does not know.
 *
 * @param game The game.
 * @param folder The folder of ROMs.
 * @returns Its absolute path: the emulator reads it again, and the process may
 * have gone to another folder by then.
 * @throws {Error} If there is no such file or it is another ROM, in one line; in
 * Node.
 */
export function romFile(
  { id, md5, size }: AtariGame,
  folder: string = romFolder(),
): string {
  checkDeno(`play ${id} in the Arcade Learning Environment`);
  const path = resolve(folder, `${id}.bin`);
  let bytes: Uint8Array;
  try {
    bytes = Deno.readFileSync(path);
  } catch (error) {
    tellPermission(error, `read the ROM '${path}'`, `--allow-read=${path}`);
    throw new Error(
      `Cannot find the ROM '${path}': run '${
        installCommand(ATARI_INSTALLATION)
      }', or set BELLMAN_ROMS to the folder that holds it`,
    );
  }
  if (bytes.length !== size) {
    throw new Error(
      `Cannot load '${path}' as it has ${bytes.length} bytes: the known ROM has ${size}`,
    );
  }
  const found = createHash("md5").update(bytes).digest("hex");
  if (found !== md5) {
    throw new Error(
      `Cannot load '${path}' as its MD5 is ${found}: the known ROM's is ${md5}`,
    );
  }
  return path;
}

const ID = /^(?:ALE\/)?(\w+?)(?:NoFrameskip|Deterministic)?-v\d+$/;

/**
 * Finds the game of an id of Gymnasium, such as `ALE/Pong-v5` or `PongNoFrameskip-v4`,
 * or of a ROM's name, such as `pong`.
 *
 * @throws {RangeError} If there is none, with the nearest one.
 */
export function gameOfId(id: string): AtariGame {
  const name = id.match(ID)?.[1];
  if (name === undefined) return atariGame(id);
  for (const game of ATARI_GAMES.values()) if (game.name === name) return game;
  return atariGame(name);
}

const DIRECTIONS: readonly string[] =
  "UP RIGHT LEFT DOWN UPRIGHT UPLEFT DOWNRIGHT DOWNLEFT".split(" ");

/** Buttons of each of the emulator's actions, by its number. */
export const ATARI_ACTIONS: readonly string[] = [
  ...["NOOP", "FIRE", ...DIRECTIONS],
  ...DIRECTIONS.map((it) => `${it}FIRE`),
];

/** Actions of a game. */
export interface GameActions {
  /** The emulator's number of each action. */
  readonly numbers: readonly number[];
  /** Buttons of each action. */
  readonly meanings: readonly string[];
}

/** Lists a game's own actions, or all that there are. */
export function gameActions(game: AtariGame, isFull: boolean): GameActions {
  const numbers = isFull
    ? ATARI_ACTIONS.map((_, number) => number)
    : game.minimalActions;
  return { numbers, meanings: numbers.map((it) => ATARI_ACTIONS[it]) };
}
