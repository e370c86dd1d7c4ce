import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { SeededRandom } from "../random.ts";
import {
  ConnectFour,
  type GridGame,
  minimax,
  PaddleBall,
  randomPlayer,
  scriptedPlayer,
  TicTacToe,
} from "./mod.ts";

const GAMES = [
  { make: () => new ConnectFour(), rows: 6, columns: 7, inLine: 4 },
  { make: () => new TicTacToe(), rows: 3, columns: 3, inLine: 3 },
];

type Rules = Omit<typeof GAMES[number], "make">;

/** A board written again for the tests: a piece for each row and column. */
type Board = number[][];

function boardOf(world: GridGame, { rows, columns }: Rules): Board {
  const seen = world.observe(0);
  return Array.from(
    { length: rows },
    (_, row) =>
      Array.from({ length: columns }, (_, column) => {
        const at = 2 * (row * columns + column);
        return seen[at] + 2 * seen[at + 1];
      }),
  );
}

function placed(
  board: Board,
  action: number,
  piece: number,
): Board | undefined {
  const { length } = board[0], copy = board.map((row) => [...row]);
  const row = board.length === 3
    ? Math.floor(action / 3)
    : board.findLastIndex((it) => it[action] === 0);
  if (row < 0 || copy[row][action % length] !== 0) return undefined;
  copy[row][action % length] = piece;
  return copy;
}

/** Walks in the 8 directions from every cell. */
function hasLine(board: Board, piece: number, inLine: number): boolean {
  return board.some((row, y) =>
    row.some((_, x) =>
      [-1, 0, 1].some((dy) =>
        [-1, 0, 1].some((dx) => {
          if (dx === 0 && dy === 0) return false;
          for (let i = 0; i < inLine; i++) {
            if (board[y + i * dy]?.[x + i * dx] !== piece) return false;
          }
          return true;
        })
      )
    )
  );
}

const countPieces = (board: Board) =>
  board.flat().filter((it) => it > 0).length;

/** Plain search without any cut or memory: 1 a forced win, -1 a forced loss. */
function negamax(
  board: Board,
  { piece, depth, inLine }: { piece: number; depth: number; inLine: number },
): number {
  const choices = board.length === 3 ? 9 : 7;
  if (depth === 0 || countPieces(board) === board.flat().length) return 0;
  let best = -Infinity;
  for (let action = 0; action < choices; action++) {
    const next = placed(board, action, piece);
    if (next === undefined) continue;
    const value = hasLine(next, piece, inLine)
      ? 1
      : -negamax(next, { piece: 3 - piece, depth: depth - 1, inLine });
    best = Math.max(best, value);
  }
  return best + 0;
}

const act = (world: GridGame, action: number) => {
  const actions = Int32Array.of(action);
  return world.step([actions, actions], Uint8Array.of(1));
};

const moves = fc.array(fc.nat(), { minLength: 42, maxLength: 42 });

Deno.test("games are those of rules that are written again, move by move", () => {
  let won = 0, drawn = 0;
  for (const { make, ...rules } of GAMES) {
    const choices = rules.rows === 3 ? 9 : 7;
    fc.assert(
      fc.property(moves, (chosen) => {
        const world = make();
        world.begin(0, new SeededRandom(0));
        let board = boardOf(world, rules), piece = 1;
        for (const it of chosen) {
          const allowed = Array.from(
            { length: choices },
            (_, action) => placed(board, action, piece) ? 1 : 0,
          );
          const seat = piece - 1;
          assertEquals([...world.actionMasks(seat)], allowed);
          assertEquals([...world.actionMasks(1 - seat)], allowed.map(() => 0));
          assertEquals([...world.toAct], [1 - seat, seat]);
          const free = allowed.flatMap((it, action) => it ? [action] : []);
          const action = free[it % free.length];
          const { rewards, terminated, truncated } = act(world, action);
          board = placed(board, action, piece)!;
          assertEquals(boardOf(world, rules), board);
          const wins = hasLine(board, piece, rules.inLine);
          const isFull = countPieces(board) === board.flat().length;
          const reward = wins ? 1 : 0;
          const expected = seat === 0 ? [reward, -reward] : [-reward, reward];
          assertEquals([...rewards], expected.map((it) => it + 0));
          const ends = wins || isFull ? [1, 1] : [0, 0];
          assertEquals([...terminated], ends);
          assertEquals([...truncated], [0, 0]);
          won += +wins;
          drawn += +(isFull && !wins);
          if (wins || isFull) {
            assertEquals([...world.toAct], [0, 0]);
            assert(!world.actionMasks(0).includes(1));
            assert(!world.actionMasks(1).includes(1));
            return;
          }
          piece = 3 - piece;
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  }
  assert(won > 100 && drawn > 10);
});

Deno.test("seats see the board with its pieces swapped", () => {
  const world = new TicTacToe();
  world.begin(0, new SeededRandom(0));
  act(world, 4);
  act(world, 0);
  const [first, second] = [0, 1].map((seat) => [...world.observe(seat)]);
  assertEquals([first[8], first[9], first[0], first[1]], [1, 0, 0, 1]);
  const swapped = first.map((_, i) => first[i ^ 1]);
  assertEquals(second, swapped);
});

Deno.test("an illegal move ends the game and leaves the board", () => {
  for (const seat of [0, 1]) {
    const world = new TicTacToe();
    world.begin(0, new SeededRandom(0));
    act(world, 4);
    if (seat === 0) act(world, 0);
    const before = [...world.observe(0)];
    const { rewards, terminated, truncated } = act(world, 4);
    assertEquals([...rewards], seat === 0 ? [-1, 0] : [0, -1]);
    assertEquals([...terminated, ...truncated], [1, 1, 1, 1]);
    assertEquals([...world.observe(0)], before);
    assertEquals([...world.toAct], [0, 0]);
    const state = world.save();
    new TicTacToe().load(state);
  }
});

Deno.test("the search finds what a plain one finds", () => {
  const games = [
    { ...GAMES[0], depths: [1, 2, 3, 4], least: 0, most: 26, seeds: 4 },
    // Long lines of play, where parts are cut off at any depth.
    { ...GAMES[0], depths: [6, 7], least: 30, most: 34, seeds: 60 },
    { ...GAMES[1], depths: [1, 2, 3, 5, 9], least: 1, most: 5, seeds: 4 },
  ];
  for (const { make, depths, least, most, seeds, ...rules } of games) {
    for (let seed = 0; seed < seeds; seed++) {
      const world = make(), random = new SeededRandom(seed);
      world.begin(0, random);
      const actions = [0, 1].map(() => new Int32Array(1));
      const count = least + random.integer(most - least);
      for (let i = 0; i < count && world.toAct.includes(1); i++) {
        const seat = world.toAct[1];
        randomPlayer(world, { seat, actions: actions[seat], random });
        act(world, actions[seat][0]);
      }
      const board = boardOf(world, rules), { inLine } = rules;
      const isOver = !world.toAct.includes(1);
      const piece = 1 + world.toAct[1];
      for (const depth of depths) {
        const values = [...world.actionValues(0, { depth })];
        values.forEach((value, action) => {
          const next = isOver ? undefined : placed(board, action, piece);
          if (next === undefined) return assertEquals(value, NaN);
          const expected = hasLine(next, piece, inLine)
            ? 1
            : 0 - negamax(next, { piece: 3 - piece, depth: depth - 1, inLine });
          assertEquals(value, expected);
        });
        assertEquals(boardOf(world, rules), board);
      }
    }
  }
});

function afterMoves(columns: readonly number[]): ConnectFour {
  const world = new ConnectFour();
  world.begin(0, new SeededRandom(0));
  for (const column of columns) act(world, column);
  return world;
}

/** Columns that a player takes, over many draws. */
function chosen(world: GridGame, depth: number): Map<number, number> {
  const counts = new Map<number, number>(), random = new SeededRandom(0);
  const actions = new Int32Array(1), play = minimax({ depth });
  for (let i = 0; i < 700; i++) {
    play(world, { seat: world.toAct[1], actions, random });
    counts.set(actions[0], (counts.get(actions[0]) ?? 0) + 1);
  }
  return counts;
}

Deno.test("one ply takes wins before it blocks, and any other column evenly", () => {
  // Both have three in a column.
  const both = afterMoves([0, 6, 0, 6, 0, 6]);
  assertEquals([...chosen(both, 1).keys()], [0]);
  const block = afterMoves([0, 6, 0, 5, 0]);
  assertEquals([...chosen(block, 1).keys()], [0]);
  const any = chosen(afterMoves([]), 1);
  assertEquals(any.size, 7);
  for (const count of any.values()) assert(count > 60 && count < 140);
});

Deno.test("a deeper search wins as soon and loses as late as it can", () => {
  // Three plies win from two in the middle of the lowest row, open to both sides.
  const world = afterMoves([2, 2, 3, 3]);
  const sure = [...world.actionValues(0, { depth: 3 })];
  assertEquals(sure, [0, 1, 0, 0, 1, 0, 0]);
  assertEquals([...chosen(world, 3).keys()].sort(), [1, 4]);
  assertEquals([...world.actionValues(0, { depth: 2 })], [0, 0, 0, 0, 0, 0, 0]);
  // A win at once comes before one in three plies.
  const soon = afterMoves([2, 2, 3, 3, 4, 4]);
  assertEquals([...chosen(soon, 5).keys()].sort(), [1, 5]);
  // All lose in four plies; one block puts the loss off.
  const late = afterMoves([2, 2, 3, 3, 4]);
  assertEquals([...chosen(late, 2).keys()].sort(), [1, 5]);
});

Deno.test("the perfect player of TicTacToe never loses", () => {
  const numEnvs = 300, world = new TicTacToe({ numEnvs });
  const random = new SeededRandom(0), perfect = scriptedPlayer(world);
  for (const seat of [0, 1]) {
    const players = seat === 0
      ? [perfect, randomPlayer]
      : [randomPlayer, perfect];
    for (let env = 0; env < numEnvs; env++) world.begin(env, random);
    const which = new Uint8Array(numEnvs).fill(1);
    const actions = [0, 1].map(() => new Int32Array(numEnvs));
    let won = 0, lost = 0;
    while (which.includes(1)) {
      players.forEach((play, seat) =>
        play(world, { seat, actions: actions[seat], random })
      );
      const { rewards } = world.step(actions, which);
      for (let env = 0; env < numEnvs; env++) {
        const reward = rewards[2 * env + seat];
        won += +(reward > 0);
        lost += +(reward < 0);
        which[env] &= world.toAct[2 * env] | world.toAct[2 * env + 1];
      }
    }
    assertEquals(lost, 0);
    assert(won > 200);
  }
});

Deno.test("a search of another game or depth is refused", () => {
  const random = new SeededRandom(0), actions = new Int32Array(1);
  assertThrows(
    () => minimax()(new PaddleBall(), { seat: 0, actions, random }),
    TypeError,
    "Cannot search the moves of PaddleBall: expected worlds with a method 'search', such as ConnectFour",
  );
  for (const depth of [0, 1.5, NaN]) {
    assertThrows(() => minimax({ depth }), RangeError, `depth ${depth}`);
    const world = new TicTacToe();
    assertThrows(() => world.actionValues(0, { depth }), RangeError);
  }
});

Deno.test("boards are drawn as text and as a picture", () => {
  const world = afterMoves([3, 3, 0]);
  assertEquals(
    world.text(0),
    `${
      ". . . . . . .\n".repeat(4)
    }. . . O . . .\nX . . X . . .\n0 1 2 3 4 5 6\n`,
  );
  const { width, height, data } = world.render(0, { width: 70, height: 60 });
  assertEquals([width, height], [70, 60]);
  const pixel = (x: number, y: number) => [
    ...data.subarray(3 * (width * y + x), 3 * (width * y + x) + 3),
  ];
  const [red, yellow, empty] = [pixel(35, 55), pixel(35, 45), pixel(35, 35)];
  assertEquals(pixel(5, 55), red);
  assert(red[0] > 180 && red[1] < 100);
  assert(yellow[0] > 180 && yellow[1] > 150 && yellow[2] < 100);
  assertEquals(empty, [255, 255, 255]);
});

Deno.test("a page lays columns or cells over the board", () => {
  assertEquals(new ConnectFour().actionGrid, [1, 7]);
  assertEquals(new TicTacToe().actionGrid, [3, 3]);
});
