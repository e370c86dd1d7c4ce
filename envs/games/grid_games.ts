import { checkOptions } from "@bellman/files/options";
import type {
  BoxArray,
  RandomSource,
  RenderOptions,
  RgbImage,
} from "@bellman/types";
import { Canvas, type Color, type Point } from "../render/canvas.ts";
import { box, discrete } from "../spaces/constructors.ts";
import { Grid, type GridShape } from "./_grid.ts";
import { ArrayWorld, GAME, type GameOptions } from "./array_world.ts";
import {
  playsIn,
  type ScriptedWorld,
  SEARCH,
  type SearchedWorld,
  type SearchOptions,
  type Turn,
} from "../self_play/players.ts";

/** Games on a board: their shape, and the plies that their scripted player looks ahead. */
const GAMES = {
  ConnectFour: {
    shape: { rows: 6, columns: 7, inLine: 4, falls: true },
    depth: 1,
  },
  TicTacToe: {
    shape: { rows: 3, columns: 3, inLine: 3, falls: false },
    depth: Infinity,
  },
};

/** Rules by the game's name, which its worlds share. */
const GRIDS = {
  ConnectFour: new Grid(GAMES.ConnectFour.shape),
  TicTacToe: new Grid(GAMES.TicTacToe.shape),
};

const PIECES = [".", "X", "O"];
const COLORS: readonly Color[] = [
  [255, 255, 255],
  [214, 64, 69],
  [245, 200, 66],
];
const BOARD: Color = [46, 90, 160];

/**
 * Games on a board by turns of two seats, `first` and `second`, with the numbers of
 * PettingZoo's. A seat sees a board of bytes `[rows, columns, 2]`: its own pieces in
 * entry 0 of the last axis, the other's in entry 1. A line wins: reward 1 and -1; a full
 * board is a draw: 0 and 0. An illegal move leaves the board as it is and ends the game,
 * terminated and truncated for both: reward -1 for whoever made it, 0 for the other.
 *
 * @example
 * ```ts
 * import { GridGame, TicTacToe } from "@bellman/envs/games";
 * import { assert } from "@std/assert";
 *
 * assert(new TicTacToe() instanceof GridGame);
 * ```
 */
export abstract class GridGame extends ArrayWorld<Uint8Array>
  implements
    ScriptedWorld<Uint8Array, Int32Array>,
    SearchedWorld<Uint8Array, Int32Array> {
  #shape: GridShape;
  #grid: Grid;
  #depth: number;
  #cells: Uint8Array;
  /** The board of each world, a part of the cells. */
  #boards: readonly Uint8Array[];
  #masks: readonly Uint8Array[];

  /**
   * Makes worlds whose games have not begun.
   *
   * @param name The game.
   * @param options Number of worlds.
   */
  constructor(name: "ConnectFour" | "TicTacToe", options: GameOptions) {
    const { shape, depth } = GAMES[name], grid = GRIDS[name];
    super({
      name,
      seats: [{ name: "first" }, { name: "second" }],
      observationSpace: box({
        low: 0,
        high: 1,
        shape: [shape.rows, shape.columns, 2],
        dtype: "uint8",
      }),
      actionSpace: discrete(grid.choices),
    }, { ...checkOptions(name, options, GAME), maxEpisodeSteps: grid.cells });
    this.#shape = shape;
    this.#grid = grid;
    this.#depth = depth;
    const { cells } = grid;
    this.#cells = new Uint8Array(this.numEnvs * cells);
    this.#boards = Array.from(
      { length: this.numEnvs },
      (_, env) => this.#cells.subarray(env * cells, (env + 1) * cells),
    );
    this.#masks = this.seats.map(() =>
      new Uint8Array(this.numEnvs * grid.choices)
    );
  }

  /** Empties a world's board. */
  protected override beginGame(env: number): void {
    this.#boards[env].fill(0);
    this.toAct[2 * env] = 1;
  }

  /** Places a piece. */
  protected override stepGame(
    env: number,
    actions: readonly Int32Array[],
  ): void {
    const grid = this.#grid, board = this.#boards[env];
    const mover = 1 - this.toAct[2 * env];
    const own = 2 * env + mover, other = 2 * env + 1 - mover;
    const cell = grid.cellOf(board, actions[mover][env]);
    if (cell < 0) {
      const { truncated } = this.result;
      this.end(own, -1);
      this.end(other, 0);
      truncated[own] = truncated[other] = 1;
      return;
    }
    board[cell] = 1 + mover;
    const isWon = grid.wins(board, cell, 1 + mover);
    if (isWon || this.steps[env] === grid.cells - 1) {
      this.end(own, isWon ? 1 : 0);
      this.end(other, isWon ? -1 : 0);
      return;
    }
    this.toAct[own] = 0;
    this.toAct[other] = 1;
  }

  /** Writes a seat's pieces and the other's. */
  protected override write(seat: number, observations: Uint8Array): void {
    const cells = this.#cells, own = 1 + seat, other = 2 - seat;
    for (let i = 0; i < cells.length; i++) {
      observations[2 * i] = cells[i] === own ? 1 : 0;
      observations[2 * i + 1] = cells[i] === other ? 1 : 0;
    }
  }

  /** Rows and columns of fields, one for each action, such as a page lays over the board. */
  get actionGrid(): readonly [rows: number, columns: number] {
    const { rows, columns, falls } = this.#shape;
    return [falls ? 1 : rows, columns];
  }

  /**
   * Returns the action masks of a seat.
   *
   * @param seat Index of the seat.
   * @returns 1 where there is room `[numEnvs, choices]`, 0 for all where the seat is not
   * to act; reused by the next call for the seat.
   * @throws {RangeError} If there is no such seat.
   */
  actionMasks(seat: number): Uint8Array {
    this.checkIndex("seat", seat);
    const grid = this.#grid, { choices } = grid;
    const masks = this.#masks[seat];
    for (let env = 0; env < this.numEnvs; env++) {
      const acts = this.toAct[2 * env + seat] === 1;
      for (let action = 0; action < choices; action++) {
        const hasRoom = acts && grid.cellOf(this.#boards[env], action) >= 0;
        masks[env * choices + action] = hasRoom ? 1 : 0;
      }
    }
    return masks;
  }

  /**
   * Finds the actions with which a seat that is to act wins or loses by force.
   *
   * @param env Index of the world.
   * @param options Plies to look ahead; in ConnectFour each multiplies the time by up
   * to 7.
   * @returns For each action 1 if the seat to act can force a win within these plies, -1
   * if the other can, else 0; NaN if it is not allowed. All NaN once the game is over.
   * @throws {RangeError} If there is no such world, or the depth is not a whole number
   * of at least 1, or Infinity.
   */
  actionValues(env: number, options: SearchOptions = {}): Float64Array {
    this.checkIndex("world", env);
    const { depth = Infinity } = checkOptions("a search", options, SEARCH);
    const mover = this.#moverOf(env);
    return Float64Array.from(
      { length: this.#grid.choices },
      (_, action) =>
        mover < 0 ? NaN : Math.sign(this.#score(env, action, depth)),
    );
  }

  /** Index of the seat to act in a world; -1 if its game is over. */
  #moverOf(env: number): number {
    return this.toAct[2 * env] === 1
      ? 0
      : this.toAct[2 * env + 1] === 1
      ? 1
      : -1;
  }

  #score(env: number, action: number, depth: number): number {
    const piece = 1 + this.#moverOf(env);
    return this.#grid.score(this.#boards[env], piece, action, depth);
  }

  /**
   * Plays by the scripted player: TicTacToe's is perfect, ConnectFour's takes wins and
   * blocks the other's, as `minimax` of one ply.
   *
   * @param turn The turn.
   */
  scripted(turn: Turn<Int32Array>): void {
    this.search(turn, { depth: this.#depth });
  }

  /**
   * Plays by a search, as `minimax` does.
   *
   * @param turn The turn.
   * @param options Plies to look ahead.
   * @throws {RangeError} If the depth is not a whole number of at least 1, or Infinity.
   */
  search(turn: Turn<Int32Array>, options: SearchOptions = {}): void {
    const { depth = Infinity } = checkOptions("a search", options, SEARCH);
    const { seat, actions, which } = turn;
    for (let env = 0; env < this.numEnvs; env++) {
      if (!playsIn(this, { seat, env, which })) continue;
      actions[env] = this.#bestOf(env, depth, turn.random);
    }
  }

  #bestOf(env: number, depth: number, random: RandomSource): number {
    const grid = this.#grid, board = this.#boards[env];
    const other = 2 - this.#moverOf(env);
    let best = -Infinity, chosen = -1, ties = 0;
    for (let action = 0; action < grid.choices; action++) {
      const cell = grid.cellOf(board, action);
      if (cell < 0) continue;
      // Of actions that score the same, one in the other's way comes first.
      const rank = 2 * this.#score(env, action, depth) +
        +grid.wins(board, cell, other);
      if (rank > best) ties = 0;
      if (rank < best) continue;
      best = rank;
      if (random.integer(++ties) === 0) chosen = action;
    }
    return chosen;
  }

  /** Names the boards. */
  protected override state(): Record<string, BoxArray> {
    return { boards: this.#cells };
  }

  /**
   * Draws a world's board in a few lines of text: `X` for the pieces of the first seat,
   * `O` for the second's, `.` or the action's number for empty cells.
   *
   * @param env Index of the world.
   * @returns Lines, each with its end.
   * @throws {RangeError} If there is no such world.
   */
  text(env: number): string {
    this.checkIndex("world", env);
    const { rows, columns, falls } = this.#shape;
    const numbers = Array.from({ length: columns }, (_, column) => column);
    const lines = Array.from(
      { length: rows },
      (_, row) =>
        numbers.map((column) => {
          const cell = row * columns + column;
          const piece = this.#boards[env][cell];
          return piece === 0 && !falls ? cell : PIECES[piece];
        }),
    );
    return [...lines, ...falls ? [numbers] : []]
      .map((line) => `${line.join(" ")}\n`).join("");
  }

  /**
   * Draws a world's board: red pieces of the first seat, yellow ones of the second.
   *
   * @param env Index of the world.
   * @param options Size; 50 pixels a cell by default.
   * @returns The picture.
   * @throws {RangeError} If there is no such world, or the size is no whole number of
   * pixels.
   */
  override render(env: number, options: RenderOptions = {}): RgbImage {
    this.checkIndex("world", env);
    const { rows, columns } = this.#shape;
    const { width = 50 * columns, height = 50 * rows } = options;
    const view: Point = [columns, rows];
    const canvas = new Canvas({ width, height, view });
    canvas.fillPolygon([[0, 0], [columns, 0], view, [0, rows]], BOARD);
    this.#boards[env].forEach((piece, cell) => {
      const x = cell % columns + 0.5;
      const y = rows - Math.floor(cell / columns) - 0.5;
      canvas.fillCircle({ center: [x, y], radius: 0.4 }, COLORS[piece]);
    });
    return canvas.image();
  }
}

/**
 * Connect Four on 6 rows and 7 columns: an action drops a piece into a column, four
 * pieces in a line win. The numbers are those of PettingZoo's `connect_four_v3`; row 0
 * of an observation is the top. See {@linkcode GridGame}.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { ConnectFour } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new ConnectFour(), which = Uint8Array.of(1);
 * world.begin(0, new SeededRandom(0));
 * for (const column of [3, 0, 3, 0, 3, 0]) {
 *   world.step([Int32Array.of(column), Int32Array.of(column)], which);
 * }
 * assertEquals([...world.actionValues(0, { depth: 1 })], [0, 0, 0, 1, 0, 0, 0]);
 * const { rewards } = world.step([Int32Array.of(3), Int32Array.of(0)], which);
 * assertEquals([...rewards], [1, -1]);
 * ```
 */
export class ConnectFour extends GridGame {
  /**
   * Makes worlds whose games have not begun.
   *
   * @param options Number of worlds.
   * @throws {RangeError} If it is not a whole number of at least 1.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: GameOptions = {}) {
    super("ConnectFour", options);
  }
}

/**
 * Tic-tac-toe: an action takes one of nine cells, three in a line win. The numbers are
 * those of PettingZoo's `tictactoe_v3`. See {@linkcode GridGame}.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new TicTacToe(), which = Uint8Array.of(1);
 * world.begin(0, new SeededRandom(0));
 * world.step([Int32Array.of(4), Int32Array.of(0)], which);
 * assertEquals(world.text(0), "0 1 2\n3 X 5\n6 7 8\n");
 * // With perfect play it is a draw; an edge loses.
 * assertEquals(world.actionValues(0)[0], 0);
 * assertEquals(world.actionValues(0)[1], -1);
 * ```
 */
export class TicTacToe extends GridGame {
  /**
   * Makes worlds whose games have not begun.
   *
   * @param options Number of worlds.
   * @throws {RangeError} If it is not a whole number of at least 1.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: GameOptions = {}) {
    super("TicTacToe", options);
  }
}
