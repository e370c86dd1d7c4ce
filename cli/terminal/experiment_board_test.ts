import { assert, assertEquals } from "@std/assert";
import { Board, boardLines, progressLine } from "./experiment_board.ts";
import type { CellResult } from "@bellman/experiments";
import type { RunningCell } from "../../lab/experiments/driver.ts";

function cellOf(
  variant: string,
  seed: number,
  more: Partial<CellResult> = {},
): CellResult {
  return {
    variant,
    environment: "CartPole-v1",
    seed,
    dir: `runs/${variant}/CartPole-v1/seed-${seed}`,
    state: "missing",
    steps: 0,
    seconds: 0,
    last: null,
    best: null,
    commit: "",
    resumes: 0,
    message: "",
    ...more,
  };
}

const policy = (meanReturn: number) => ({ step: 10, meanReturn, stdReturn: 0 });
const CELLS = [
  cellOf("a2c", 0, { state: "finished", last: policy(100) }),
  cellOf("a2c", 1, { state: "finished", last: policy(201) }),
  cellOf("a2c", 2),
  cellOf("sac", 0, { state: "failed" }),
];
const RUNNING = [{ cell: CELLS[2], rate: 1234.5 }] as RunningCell[];
const STATE = { cells: CELLS, running: RUNNING, secondsLeft: 3661 };

Deno.test("a line for each variant and environment, and one for all", () => {
  assertEquals(boardLines(STATE, { columns: 80, rows: 24 }), [
    "a2c on CartPole-v1  2/3  1 running, 1,235/s            mean 150.5",
    "sac on CartPole-v1  0/1                      1 failed",
    "2 of 4 cells finished, 1 running, 1 failed, 1:01:01 left",
  ]);
  assertEquals(
    progressLine({ cells: CELLS, running: [] }),
    "2 of 4 cells finished, 1 failed",
  );
});

Deno.test("a small terminal shows what runs, and that there is more", () => {
  const cells = [
    ...Array.from({ length: 9 }, (_, i) => cellOf(`v${i}`, 0)),
    CELLS[2],
  ];
  const lines = boardLines({ cells, running: RUNNING }, {
    columns: 30,
    rows: 6,
  });
  assertEquals(lines, [
    "a2c on CartPole-v1  0/1  1 ru",
    "v0 on CartPole-v1   0/1",
    "and 8 more",
    "0 of 10 cells finished, 1 run",
  ]);
});

Deno.test("in a terminal the table stays below what is printed", () => {
  let text = "";
  const io = {
    out: () => {},
    err: (more: string) => text += more,
    outIsTerminal: true,
    errIsTerminal: true,
    size: () => ({ columns: 80, rows: 24 }),
  };
  const board = new Board(io);
  board.begin(() => STATE);
  board.print("a notice", io.err);
  board.print("another", io.err);
  board.close();
  const [first, second, third] = text.split("a2c on").slice(1);
  assert(text.startsWith("a notice\n"));
  assert(first.endsWith("\x1b[J\x1b[3A\r\x1b[Janother\n"));
  assert(second.endsWith("\x1b[J\x1b[3A\r"));
  assert(third.includes("4 cells finished"));
});

Deno.test("elsewhere lines alone are printed", () => {
  let text = "";
  const io = {
    out: (more: string) => text += more,
    err: () => {},
    outIsTerminal: true,
    errIsTerminal: false,
  };
  const board = new Board(io);
  board.begin(() => STATE);
  board.print("a line", io.out);
  board.close();
  assertEquals(text, "a line\n");
});
