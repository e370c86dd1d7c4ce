import {
  checkOptions,
  isWhole,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import { ATARI_ACTIONS, type AtariGame, atariGame, romFile } from "./roms.ts";
import { crc32 } from "node:zlib";
import { checkSeed } from "../../random.ts";
import { snapshotRecord } from "../../snapshot.ts";
import type { StateTree } from "@bellman/types";
import { checkState, loadState, saveState } from "./_ale_state.ts";
import { NativeAle } from "./_native_ale.ts";
import { NTSC, paint, paintGray, PAL, type Palette } from "./palettes.ts";
import { StickyActions } from "./_ale_random.ts";

/** Settings of {@linkcode Ale}. */
export interface AleOptions {
  /**
   * The game's mode, one of {@linkcode AtariGame}'s modes.
   *
   * @default the game's first mode
   */
  mode?: number;
  /**
   * The difficulty, one of {@linkcode Ale.difficulties}.
   *
   * @default the game's own, as if the switch was never touched
   */
  difficulty?: number;
  /**
   * Probability that at a frame the action before is repeated ("sticky
   * actions"), from 0 to 1.
   *
   * @default 0
   */
  repeatActionProbability?: number;
  /**
   * Frames after which an episode is truncated; `Infinity` for no limit.
   *
   * @default Infinity
   */
  maxNumFramesPerEpisode?: number;
  /**
   * Seed of the sticky actions; its lowest 32 bits count.
   *
   * @default 0
   */
  seed?: number;
  /**
   * Seed of what memory and timers hold when the console is switched on; its
   * lowest 31 bits count. ale-py never changes it.
   *
   * @default 4753849
   */
  systemSeed?: number;
}

/** Kind of each setting; modes and difficulties depend on the game, too. */
export const ALE_OPTIONS: OptionKinds<AleOptions> = {
  mode: whole(0),
  difficulty: whole(0),
  repeatActionProbability: [
    "number",
    "0 to 1",
    (it: number) => it >= 0 && it <= 1,
  ],
  maxNumFramesPerEpisode: [
    "number",
    "a whole number of at least 1, or Infinity",
    (it: number) => it === Infinity || isWhole(it, 1),
  ],
  seed: whole(0),
  systemSeed: whole(0),
};

/** Checks that a number is one of some. */
function checkOneOf(
  value: number,
  allowed: readonly number[],
  what: string,
): void {
  if (allowed.includes(value)) return;
  throw new RangeError(
    `There is no ${what} ${value}: there are ${allowed.join(", ")}`,
  );
}

/** European games, and only they, have screens as high as this. */
const PAL_HEIGHT = 250;
/** Bytes of the console's memory. */
const RAM_SIZE = 128;

/** Bytes that the library's functions take; any will do. */
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * One emulator of the Arcade Learning Environment with a game in it (Bellemare
 * et al., 2013): frames, screens and memory, without frame skipping.
 *
 * Actions are the emulator's: 0 does nothing, 1 fires, 2 to 9 are up, right,
 * left, down, up-right, up-left, down-right and down-left, 10 to 17 the same
 * with fire.
 *
 * The library ends the process on what it does not like, so everything is
 * checked before it is called.
 *
 * @example
 * ```ts
 * import { Ale, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   using ale = new Ale("breakout");
 *   const before = ale.save();
 *   for (let i = 0; i < 10; i++) ale.act(1);
 *   const memory = ale.ram();
 *   ale.load(before);
 *   for (let i = 0; i < 10; i++) ale.act(1);
 *   assertEquals(ale.ram(), memory);
 * }
 * ```
 */
export class Ale implements Disposable {
  /** The game. */
  readonly game: AtariGame;
  /** Pixels in a row: 160. */
  readonly width: number;
  /** Rows: 210 for most games, up to 250. */
  readonly height: number;
  /** The mode that is set. */
  readonly mode: number;
  /** The difficulties that can be set. */
  readonly difficulties: readonly number[];
  /** The difficulty that is set, or undefined if it was left as it is. */
  readonly difficulty: number | undefined;
  /** Colours of the numbers of {@linkcode Ale.screen}. */
  readonly palette: Palette;

  #native: NativeAle;
  #probability: number;
  #sticky: StickyActions | undefined;
  #maxFrames: number;
  #size: number;
  /** Picture of a restored emulator until it acts: it keeps none itself. */
  #restored: { screen: Uint8Array; ram: Uint8Array } | undefined;

  /**
   * Loads a game and starts an episode.
   *
   * @param game The ROM's file name without its ending, such as
   * `space_invaders`.
   * @param options Mode, difficulty, sticky actions, frame limit and seeds.
   * @throws {RangeError} If there is no such game, mode or difficulty, or a
   * number is out of range.
   * @throws {TypeError} If there is no such option, or it is of another type.
   * @throws {Error} If library or ROM are missing, or the ROM is another one.
   */
  constructor(game: string, options: AleOptions = {}) {
    this.game = atariGame(game);
    const all = {
      mode: this.game.modes[0],
      repeatActionProbability: 0,
      maxNumFramesPerEpisode: Infinity,
      seed: 0,
      systemSeed: 4753849,
      ...checkOptions(game, options, ALE_OPTIONS),
    };
    checkOneOf(all.mode, this.game.modes, `mode of ${game}`);
    this.mode = all.mode;
    this.difficulty = all.difficulty;
    this.#probability = all.repeatActionProbability;
    this.#maxFrames = all.maxNumFramesPerEpisode;
    const rom = romFile(this.game);
    this.#native = new NativeAle(this.game, rom, all.systemSeed);
    try {
      const { handle, symbols } = this.#native;
      this.width = symbols.getScreenWidth(handle);
      this.height = symbols.getScreenHeight(handle);
      this.palette = this.height === PAL_HEIGHT ? PAL : NTSC;
      this.#size = this.width * this.height;
      this.difficulties = this.#native.difficulties();
      if (this.difficulty !== undefined) {
        checkOneOf(this.difficulty, this.difficulties, `difficulty of ${game}`);
      }
      this.#begin(all.seed);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** After the ROM was loaded. */
  #begin(seed: number): void {
    const probability = this.#probability;
    this.#sticky = probability > 0
      ? new StickyActions(probability, seed)
      : undefined;
    this.#native.configure(this.mode, this.difficulty);
    this.#restored = undefined;
  }

  /**
   * Switches the console off and on: loads the game again with a new stream of
   * sticky actions, as ale-py does when it is seeded.
   *
   * @param seed Its lowest 32 bits count.
   * @throws {RangeError} If it is not a whole number of at least 0.
   * @throws {Error} If the ROM is not there any more.
   */
  reload(seed: number): void {
    checkSeed(seed);
    // Once more, as the library ends the process where it is gone by now.
    this.#native.load(romFile(this.game));
    this.#begin(seed);
  }

  /** Starts an episode. */
  reset(): void {
    this.#native.symbols.reset_game(this.#native.handle);
    this.#sticky?.reset();
    this.#restored = undefined;
  }

  /**
   * Plays one frame. After the episode's end, nothing happens until `reset`.
   *
   * @param action A number of the emulator, 0 to 17.
   * @returns The frame's reward.
   * @throws {RangeError} If there is no such action.
   */
  act(action: number): number {
    if (ATARI_ACTIONS[action] === undefined) {
      throw new RangeError(
        `Cannot do action ${action}: expected 0 to ${ATARI_ACTIONS.length - 1}`,
      );
    }
    const applied = this.#sticky ? this.#sticky.take(action) : action;
    if (this.truncated) return 0;
    // The emulator would do nothing, and so has no picture to show instead.
    if (this.#restored !== undefined && this.gameOver) return 0;
    this.#restored = undefined;
    return this.#native.act(applied);
  }

  /** True where the game has ended by its own rules. */
  get gameOver(): boolean {
    return this.#native.gameOver;
  }

  /** True where the frame limit has ended the episode. */
  get truncated(): boolean {
    return this.episodeFrameNumber >= this.#maxFrames;
  }

  /** Lives that are left, as ale-py counts them: a game without has 1 or 0. */
  get lives(): number {
    return this.#native.lives;
  }

  /** Frames since the game was loaded. */
  get frameNumber(): number {
    return this.#native.symbols.getFrameNumber(this.#native.handle);
  }

  /** Frames since the episode began. */
  get episodeFrameNumber(): number {
    return this.#native.symbols.getEpisodeFrameNumber(this.#native.handle);
  }

  /**
   * Copies the screen as the console draws it: the fastest form.
   *
   * @param into `height * width` bytes; new ones if left out.
   * @returns Numbers of {@linkcode Ale.palette}, row by row.
   * @throws {RangeError} If there are not as many bytes.
   */
  screen(into: Uint8Array = new Uint8Array(this.#size)): Uint8Array {
    checkLength(into, this.#size, "screen");
    const { symbols, handle } = this.#native;
    if (this.#restored) into.set(this.#restored.screen);
    else symbols.getScreen(handle, into as Bytes);
    return into;
  }

  /**
   * Copies the screen in colour.
   *
   * @param into `height * width * 3` bytes; new ones if left out.
   * @returns Red, green and blue of each pixel, row by row.
   * @throws {RangeError} If there are not as many bytes.
   */
  rgb(into: Uint8Array = new Uint8Array(3 * this.#size)): Uint8Array {
    checkLength(into, 3 * this.#size, "colours");
    const { symbols, handle } = this.#native;
    if (this.#restored) paint(this.#restored.screen, this.palette, into);
    else symbols.getScreenRGB(handle, into as Bytes);
    return into;
  }

  /**
   * Copies the screen in gray.
   *
   * @param into `height * width` bytes; new ones if left out.
   * @returns The gray of each pixel, row by row.
   * @throws {RangeError} If there are not as many bytes.
   */
  gray(into: Uint8Array = new Uint8Array(this.#size)): Uint8Array {
    checkLength(into, this.#size, "grays");
    const { symbols, handle } = this.#native;
    if (this.#restored) paintGray(this.#restored.screen, this.palette, into);
    else symbols.getScreenGrayscale(handle, into as Bytes);
    return into;
  }

  /**
   * Copies the console's memory.
   *
   * @param into 128 bytes; new ones if left out.
   * @returns The bytes.
   * @throws {RangeError} If there are not as many bytes.
   */
  ram(into: Uint8Array = new Uint8Array(RAM_SIZE)): Uint8Array {
    checkLength(into, RAM_SIZE, "memory");
    const { symbols, handle } = this.#native;
    if (this.#restored) into.set(this.#restored.ram);
    else symbols.getRAM(handle, into as Bytes);
    return into;
  }

  /**
   * Saves the whole state, every random stream included.
   *
   * @returns Plain data that later frames do not change.
   * @throws {Error} If the game is Miniature Golf, whose states the library
   * saves in another form than it loads.
   */
  save(): StateTree {
    if (this.game.id === "miniature_golf") {
      throw new Error(
        "Cannot take a snapshot of miniature_golf: the library does not save its score",
      );
    }
    const state = saveState(this.#native);
    return {
      settings: this.#settings(),
      state,
      crc: crc32(state),
      screen: this.screen(),
      ram: this.ram(),
      sticky: this.#sticky?.save() ?? null,
    };
  }

  /**
   * Restores a snapshot. Only where a game computes for longer than a frame,
   * and so leaves an older picture on the screen, that picture may be another
   * one.
   *
   * @param snapshot The state that `save` of an emulator with this game and
   * these settings returned, also in another process.
   * @throws {TypeError} If it is no such snapshot.
   */
  load(snapshot: StateTree): void {
    const keys = ["settings", "state", "crc", "screen", "ram", "sticky"];
    const record = snapshotRecord(snapshot, keys);
    const { settings, state, crc, screen, ram, sticky } = record;
    checkState(state, { md5: this.game.md5, crc });
    const isOurs = settings === this.#settings() &&
      (sticky === null) === (this.#sticky === undefined);
    if (!isOurs || !isBytes(screen, this.#size) || !isBytes(ram, RAM_SIZE)) {
      throw new TypeError(
        `Cannot restore ${this.game.id}: the snapshot is of other settings`,
      );
    }
    this.#sticky?.load(sticky);
    loadState(this.#native, state);
    this.#restored = { screen: screen.slice(), ram: ram.slice() };
  }

  /** Describes the settings that a snapshot must have. */
  #settings(): string {
    const probability = this.#probability, maxFrames = this.#maxFrames;
    const { mode, difficulty = "" } = this;
    return [mode, difficulty, probability, maxFrames].join();
  }

  /** Frees the emulator; it cannot be used any more. */
  close(): void {
    this.#native.close();
  }

  /** Frees the emulator at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length;
}

function checkLength(into: Uint8Array, length: number, what: string): void {
  if (into.length === length) return;
  throw new RangeError(
    `Cannot copy the ${what} into ${into.length} bytes: expected ${length}`,
  );
}
