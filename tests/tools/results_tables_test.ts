import { assertEquals } from "@std/assert";
import {
  curvesTable,
  type ResultsRow,
  resultsTable,
  untilTable,
} from "./results_tables.ts";

const judged = (meanReturn: number) => ({ step: 9, meanReturn, stdReturn: 0 });

/** The rows of a table without the spaces that align them, and the note below. */
function parts(text: string): { rows: string[]; note: string } {
  const [table, note] = text.split("\n\n");
  const rows = table.split("\n").map((it) => it.replaceAll(/ +/g, " "));
  return { rows, note };
}

const ROW: ResultsRow = {
  program: "@bellman/a2c",
  env: "CartPole-v1",
  preset: "",
  command: "deno task bench:learning a2c",
  commit: "3cecaa3",
  steps: 200_000,
  episodes: 100,
  bar: 2,
  seeds: [
    { seed: 0, seconds: 1, last: judged(1), best: judged(2) },
    { seed: 1, seconds: 1, last: judged(3), best: judged(4) },
  ],
};

Deno.test("results have a column for the last and one for the best policy, both named", () => {
  const { rows, note } = parts(resultsTable([ROW]));
  assertEquals(rows, [
    "| program | environment | steps | seeds | episodes | bar | last: mean ± sample deviation [95 % interval]; IQM [95 % interval] | last: seeds at the bar | best: mean ± sample deviation [95 % interval]; IQM [95 % interval] | best: seeds at the bar | commit |",
    rows[1],
    "| @bellman/a2c | CartPole-v1 | 200,000 | 2 | 100 | 2 | 2.0 ± 1.4 [-10.7, 14.7]; IQM 2.0 [1.0, 3.0] (few runs: too narrow) | 1 of 2 | 3.0 ± 1.4 [-9.7, 15.7]; IQM 3.0 [2.0, 4.0] (few runs: too narrow) | 2 of 2 | `3cecaa3` |",
  ]);
  for (const word of ["**last**", "**best**", "n - 1", "Student's 95 %"]) {
    assertEquals(note.includes(word), true, word);
  }
  assertEquals(note.split("\n").every((it) => it.length <= 80), true);
});

Deno.test("what was not measured is a dash, a preset goes by its name", () => {
  const seeds = ROW.seeds.map((it) => ({ ...it, best: null }));
  const preset = { ...ROW, preset: "Pendulum-v1-mixture", bar: null, seeds };
  const { commit: _, ...peer } = { ...preset, program: "sb3", preset: "" };
  assertEquals(parts(resultsTable([preset, peer])).rows.slice(2), [
    "| @bellman/a2c | Pendulum-v1-mixture | 200,000 | 2 | 100 | - | 2.0 ± 1.4 [-10.7, 14.7]; IQM 2.0 [1.0, 3.0] (few runs: too narrow) | - | - | - | `3cecaa3` |",
    "| sb3 | CartPole-v1 | 200,000 | 2 | 100 | - | 2.0 ± 1.4 [-10.7, 14.7]; IQM 2.0 [1.0, 3.0] (few runs: too narrow) | - | - | - | - |",
  ]);
});

Deno.test("an environment is named with its arguments", () => {
  const command =
    "deno task bench:learning sac --set 'envKwargs={map_name: 8x8, is_slippery: false}' --jobs 1";
  const set = { envKwargs: { map_name: "8x8", is_slippery: false } };
  const row = { ...ROW, env: "gym:FrozenLake-v1", preset: "none" };
  for (const own of [{ command }, { set }]) {
    assertEquals(
      parts(resultsTable([{ ...row, ...own }])).rows[2].split(" | ")[1],
      "gym:FrozenLake-v1-defaults (map_name: 8x8, is_slippery: false)",
    );
  }
});

Deno.test("of long runs the last and the highest evaluation are shown", () => {
  const run = (seed: number, mean: number[]) => ({
    seed,
    steps: [1000, 2000, 3000],
    mean,
    std: [0, 0, 0],
  });
  const text = curvesTable([{
    env: "ALE/Pong-v5",
    evaluation: { episodes: 10, deterministic: false },
    programs: [
      {
        program: "ours",
        command: "",
        commit: "3277311",
        runs: [run(0, [1, 9, 5])],
      },
      {
        program: "theirs",
        command: "",
        runs: [run(0, [1, 2, 3]), run(1, [4, 8, 5])],
      },
    ],
  }]);
  assertEquals(parts(text).rows.slice(2), [
    "| ALE/Pong-v5 | ours | 3,000 | 1 | 10 | 5.0 | 9.0 | `3277311` |",
    "| ALE/Pong-v5 | theirs | 3,000 | 2 | 10 | 4.0 ± 1.4 [-8.7, 16.7]; IQM 4.0 [3.0, 5.0] (few runs: too narrow) | 5.5 ± 3.5 [-26.3, 37.3]; IQM 5.5 [3.0, 8.0] (few runs: too narrow) | - |",
  ]);
});

Deno.test("steps to a return are those of the median, fastest and slowest seed", () => {
  const seeds = ROW.seeds.map((it, i) => ({ ...it, reached: 4000 * (i + 1) }));
  const { rows, note } = parts(untilTable([{ ...ROW, every: 1000, seeds }]));
  assertEquals(rows, [
    "| environment | bar | program | steps: median [fewest, most] | seeds at the bar | evaluated every | episodes | commit |",
    rows[1],
    "| CartPole-v1 | 2 | @bellman/a2c | 6,000 [4,000, 8,000] | 2 of 2 | 1,000 steps | 100 | `3cecaa3` |",
  ]);
  assertEquals(note.split("\n").every((it) => it.length <= 80), true);
});
