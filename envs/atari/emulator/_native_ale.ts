import { foreign } from "../../_foreign.ts";
import { cString, openLibrary } from "@bellman/files";
import { installCommand, isFile } from "@bellman/files/installed";
import { ATARI_INSTALLATION, libraryPath } from "./installed.ts";
import type { AtariGame } from "./roms.ts";

/** The functions that are called, as the library's C header declares them. */
const SYMBOLS = {
  ALE_new: foreign("pointer"),
  ALE_del: foreign("void", "pointer"),
  setLoggerMode: foreign("void", "i32"),
  setInt: foreign("void", "pointer", "buffer", "i32"),
  setFloat: foreign("void", "pointer", "buffer", "f32"),
  loadROM: foreign("void", "pointer", "buffer"),
  act: foreign("i32", "pointer", "i32"),
  game_over: foreign("bool", "pointer"),
  reset_game: foreign("void", "pointer"),
  lives: foreign("void", "pointer", "buffer"),
  getAvailableModesSize: foreign("i32", "pointer", "i32"),
  getAvailableModes: foreign("void", "pointer", "buffer", "i32"),
  setMode: foreign("void", "pointer", "i32"),
  getAvailableDifficultiesSize: foreign("i32", "pointer"),
  getAvailableDifficulties: foreign("void", "pointer", "buffer"),
  setDifficulty: foreign("void", "pointer", "i32"),
  getFrameNumber: foreign("i32", "pointer"),
  getEpisodeFrameNumber: foreign("i32", "pointer"),
  getScreenWidth: foreign("i32", "pointer"),
  getScreenHeight: foreign("i32", "pointer"),
  getScreen: foreign("void", "pointer", "buffer"),
  getScreenRGB: foreign("void", "pointer", "buffer"),
  getScreenGrayscale: foreign("void", "pointer", "buffer"),
  getRAM: foreign("void", "pointer", "buffer"),
  cloneSystemState: foreign("pointer", "pointer"),
  restoreSystemState: foreign("void", "pointer", "pointer"),
  deleteState: foreign("void", "pointer"),
  encodeStateLen: foreign("i32", "pointer"),
  encodeState: foreign("void", "pointer", "buffer", "i32"),
  decodeState: foreign("pointer", "buffer", "i32"),
};

/** The library's functions. */
export type AleSymbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** One native emulator and the functions that work on it. */
export interface Emulator {
  /** The library's functions. */
  symbols: AleSymbols;
  /** The native object. */
  handle: Deno.PointerObject;
}

/** Only errors are logged: what goes wrong without ending the process. */
const ERRORS_ONLY = 2;

function openAle(path: string): AleSymbols {
  if (!isFile(path)) {
    throw new Error(
      `Cannot find the Arcade Learning Environment at '${path}': run '${
        installCommand(ATARI_INSTALLATION)
      }', or set BELLMAN_ALE_LIBRARY to a libale_c`,
    );
  }
  try {
    return openLibrary(path, SYMBOLS);
  } catch (error) {
    const why = (error as Error).message.split("\n")[0]
      .replaceAll("Could not open library: ", "");
    throw new Error(
      `Cannot open the Arcade Learning Environment at '${path}': ${why}`,
      { cause: error },
    );
  }
}

const opened = new Map<string, AleSymbols>();

/**
 * Returns the library's functions; the library is opened once a process.
 *
 * @throws {Error} If it is not there or cannot be opened, in one line.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function aleLibrary(): AleSymbols {
  const path = libraryPath();
  let symbols = opened.get(path);
  if (symbols === undefined) {
    symbols = openAle(path);
    symbols.setLoggerMode(ERRORS_ONLY);
    opened.set(path, symbols);
  }
  return symbols;
}

const ONE_PLAYER = 1;

const leftOpen = new FinalizationRegistry(({ symbols, handle }: Emulator) =>
  symbols.ALE_del(handle)
);

/** An emulator of the library, corrected where it departs from ale-py. */
export class NativeAle implements Emulator {
  /** The library's functions. */
  readonly symbols: AleSymbols = aleLibrary();

  #game: AtariGame;
  #handle: Deno.PointerObject | undefined;
  #lives: Int32Array<ArrayBuffer> = new Int32Array(4);
  #firstLives = 0;
  /**
   * Ends of Chopper Command are only seen where the joystick is pushed in the
   * very frame of the last life.
   */
  #missesEnds: boolean;

  /**
   * Switches a console on.
   *
   * @param game The game.
   * @param path Its ROM, which was checked.
   * @param systemSeed Its lowest 31 bits count.
   */
  constructor(game: AtariGame, path: string, systemSeed: number) {
    this.#game = game;
    this.#missesEnds = game.id === "chopper_command";
    const { symbols } = this;
    const handle = symbols.ALE_new()!;
    this.#handle = handle;
    leftOpen.register(this, { symbols, handle }, this);
    // The library takes 0 for the current time.
    const seed = (systemSeed & 0x7fffffff) || 1;
    symbols.setInt(handle, cString("random_seed"), seed);
    // Actions that stick are drawn outside: see StickyActions.
    symbols.setFloat(handle, cString("repeat_action_probability"), 0);
    this.load(path);
  }

  /** The native object. */
  get handle(): Deno.PointerObject {
    if (this.#handle) return this.#handle;
    throw new Error(
      `Cannot play ${this.#game.id} as its emulator was closed`,
    );
  }

  /**
   * Loads the ROM, as if the console was switched off and on.
   *
   * @param path The ROM, which was checked.
   */
  load(path: string): void {
    this.symbols.loadROM(this.handle, cString(path));
    this.#firstLives = this.#countedLives;
  }

  /**
   * Plays one frame; nothing happens where the game has ended.
   *
   * @returns The frame's reward.
   */
  act(action: number): number {
    if (this.#missesEnds && this.gameOver) return 0;
    return this.symbols.act(this.handle, action);
  }

  /** True where the game has ended. */
  get gameOver(): boolean {
    if (this.symbols.game_over(this.handle)) return true;
    return this.#missesEnds && this.#countedLives === 0;
  }

  get #countedLives(): number {
    this.symbols.lives(this.handle, this.#lives);
    return this.#lives[0];
  }

  /** Lives that are left, as ale-py counts them. */
  get lives(): number {
    const lives = this.#countedLives, first = this.#game.lives;
    if (this.#firstLives === first) return lives;
    if (this.gameOver) return 0;
    // Where ale-py counts none, the library says 0, or those of a part.
    return first === 1 ? 1 : lives + first - this.#firstLives;
  }

  /** Lists the difficulties that can be set. */
  difficulties(): number[] {
    const count = this.symbols.getAvailableDifficultiesSize(this.handle);
    const numbers = new Int32Array(count);
    this.symbols.getAvailableDifficulties(this.handle, numbers);
    return [...numbers];
  }

  /** Sets mode and difficulty where they are not the game's own, and resets. */
  configure(mode: number, difficulty: number | undefined): void {
    const isFirst = mode === this.#game.modes[0];
    if (isFirst && difficulty === undefined) return;
    const { handle, symbols } = this;
    if (!isFirst) symbols.setMode(handle, this.#numberOf(mode));
    if (difficulty !== undefined) symbols.setDifficulty(handle, difficulty);
    symbols.reset_game(handle);
  }

  /** Returns the library's number of a mode, which for some games is not ale-py's. */
  #numberOf(mode: number): number {
    const { id, modes } = this.#game;
    const count = this.symbols.getAvailableModesSize(this.handle, ONE_PLAYER);
    if (count !== modes.length) {
      throw new Error(
        `Cannot set the mode of ${id}: the library has ${count} modes, not ${modes.length}`,
      );
    }
    const numbers = new Int32Array(count);
    this.symbols.getAvailableModes(this.handle, numbers, ONE_PLAYER);
    return numbers[modes.indexOf(mode)];
  }

  /** Frees the emulator. */
  close(): void {
    if (!this.#handle) return;
    leftOpen.unregister(this);
    this.symbols.ALE_del(this.#handle);
    this.#handle = undefined;
  }
}
