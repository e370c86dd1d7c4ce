/** Most cells of which every position is remembered once it is solved. */
const SOLVABLE = 9;

/** Shape of a board and what wins on it. */
export interface GridShape {
  readonly rows: number;
  readonly columns: number;
  /** Pieces in a line that win. */
  readonly inLine: number;
  /** True where pieces fall down a column, which is the action; else it is a cell. */
  readonly falls: boolean;
}

/** Lists, for each cell, the other cells of every line through it. */
function linesOf({ rows, columns, inLine }: GridShape): Uint8Array[][] {
  const through: Uint8Array[][] = Array.from(
    { length: rows * columns },
    () => [],
  );
  for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
    for (let row = 0; row + down * (inLine - 1) < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const last = column + right * (inLine - 1);
        if (last < 0 || last >= columns) continue;
        const line = Array.from(
          { length: inLine },
          (_, i) => (row + down * i) * columns + column + right * i,
        );
        for (const cell of line) {
          through[cell].push(Uint8Array.from(line.filter((it) => it !== cell)));
        }
      }
    }
  }
  return through;
}

/**
 * Rules of games on a board, and the search of their positions. A board has 0 for empty
 * cells, 1 and 2 for the pieces of the two seats.
 */
export class Grid {
  readonly cells: number;
  readonly columns: number;
  /** Number of actions. */
  readonly choices: number;
  readonly #falls: boolean;
  readonly #lines: readonly (readonly Uint8Array[])[];
  /** Solved positions, of small boards. */
  readonly #solved = new Map<number, number>();

  constructor(shape: GridShape) {
    this.cells = shape.rows * shape.columns;
    this.columns = shape.columns;
    this.choices = shape.falls ? shape.columns : this.cells;
    this.#falls = shape.falls;
    this.#lines = linesOf(shape);
  }

  /** Returns the cell that an action fills, -1 where there is no room. */
  cellOf(board: Uint8Array, action: number): number {
    if (!this.#falls) return board[action] === 0 ? action : -1;
    let cell = this.cells - this.columns + action;
    while (cell >= 0 && board[cell] !== 0) cell -= this.columns;
    return Math.max(cell, -1);
  }

  /** Finds out if a piece in a cell makes a line with others that are there. */
  wins(board: Uint8Array, cell: number, piece: number): boolean {
    const lines = this.#lines[cell];
    for (let i = 0; i < lines.length; i++) {
      const others = lines[i];
      let k = 0;
      while (k < others.length && board[others[k]] === piece) k++;
      if (k === others.length) return true;
    }
    return false;
  }

  /**
   * Returns the score of an action for the piece to move: positive where it wins within
   * `depth` plies, the more the sooner, negative where the other does, else 0; NaN if it
   * is not allowed.
   */
  score(
    board: Uint8Array,
    piece: number,
    action: number,
    depth: number,
  ): number {
    const cell = this.cellOf(board, action);
    if (cell < 0) return NaN;
    let left = -1;
    for (let i = 0; i < this.cells; i++) left += +(board[i] === 0);
    if (this.wins(board, cell, piece)) return left + 1;
    board[cell] = piece;
    const most = this.cells;
    const value = this.#value(board, 3 - piece, left, depth - 1, -most, most);
    board[cell] = 0;
    return value === 0 ? 0 : -value;
  }

  /** Returns the score of a position for the piece to move (alpha-beta search). */
  #value(
    board: Uint8Array,
    piece: number,
    empty: number,
    depth: number,
    low: number,
    high: number,
  ): number {
    if (depth <= 0 || empty === 0) return 0;
    if (this.#winsAtOnce(board, piece)) return empty;
    if (depth === 1) return 0;
    const isSolved = this.cells <= SOLVABLE && depth >= empty;
    let key = piece;
    if (isSolved) {
      for (let i = 0; i < this.cells; i++) key = 3 * key + board[i];
      const known = this.#solved.get(key);
      if (known !== undefined) return known;
      // What is remembered must be exact: nothing is cut off.
      high = Infinity;
    }
    const other = 3 - piece, left = empty - 1, plies = depth - 1;
    let best = -Infinity;
    for (let action = 0; best < high && action < this.choices; action++) {
      const cell = this.cellOf(board, action);
      if (cell < 0) continue;
      board[cell] = piece;
      const to = -Math.max(low, best);
      best = Math.max(best, -this.#value(board, other, left, plies, -high, to));
      board[cell] = 0;
    }
    if (isSolved) this.#solved.set(key, best);
    return best;
  }

  #winsAtOnce(board: Uint8Array, piece: number): boolean {
    for (let action = 0; action < this.choices; action++) {
      const cell = this.cellOf(board, action);
      if (cell >= 0 && this.wins(board, cell, piece)) return true;
    }
    return false;
  }
}
