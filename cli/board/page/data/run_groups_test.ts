import {
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
} from "@std/assert";
import type { RunSummary } from "../../messages.ts";
import { HOME } from "./address.ts";
import { CurveMaker, groupsOf, ordered } from "./run_groups.ts";

function runOf(id: string, settings: Record<string, unknown>): RunSummary {
  const env = "CartPole-v1", algorithm = "a2c";
  return {
    id,
    name: `runs/${id}`,
    algorithm,
    environment: settings.env ?? env,
    settings: { algorithm, env, ...settings },
  } as unknown as RunSummary;
}

const RUNS = [
  runOf("a", { seed: 0, gamma: 0.9 }),
  runOf("b", { seed: 1, gamma: 0.9 }),
  runOf("c", { seed: 0, gamma: 0.99 }),
];

Deno.test("runs are grouped by everything but the seed, or by given settings", () => {
  const names = (curves: "mean" | "runs", by: string[] = []) =>
    groupsOf(RUNS, { curves, by }).map(({ name, runs }) => [name, runs.length]);
  assertEquals(names("mean"), [
    ["a2c CartPole-v1 gamma=0.9 (2 runs)", 2],
    ["a2c CartPole-v1 gamma=0.99", 1],
  ]);
  assertEquals(names("mean", ["seed"]), [["seed=0 (2 runs)", 2], [
    "seed=1",
    1,
  ]]);
  assertEquals(names("runs"), [["runs/a", 1], ["runs/b", 1], ["runs/c", 1]]);
});

Deno.test("groups are named by what tells them from others of their task", () => {
  const other = { env: "Acrobot-v1", gamma: 0.5, numEnvs: 9 };
  const runs = [...RUNS, runOf("d", { seed: 0, ...other })];
  assertEquals(
    groupsOf(runs, { curves: "mean", by: [] }).map(({ name }) => name),
    [
      "a2c Acrobot-v1",
      "a2c CartPole-v1 gamma=0.9 (2 runs)",
      "a2c CartPole-v1 gamma=0.99",
    ],
  );
});

Deno.test("a curve is made again only when its points or its view change", () => {
  const maker = new CurveMaker();
  const [group] = groupsOf(RUNS, { curves: "mean", by: [] });
  const lines = [{ x: [0, 1], y: [0, 1] }, { x: [0, 1], y: [2, 3] }];
  const make = (lines: { x: number[]; y: number[] }[], view = HOME) =>
    maker.of("k", { lines, group, view });
  const first = make(lines);
  assertEquals([first.y[0], first.y.at(-1)], [1, 2]);
  assertStrictEquals(make([...lines]), first);
  const grown = make([lines[0], { x: [0, 1], y: [4, 5] }]);
  assertNotStrictEquals(grown, first);
  assertEquals(grown.y[0], 2);
  assertNotStrictEquals(make(lines, { ...HOME, curves: "iqm" }), grown);
});

Deno.test("returns come first, then evaluations and losses", () => {
  const names = [
    ...["time/x", "train/entropy", "train/value_loss", "eval/return_mean"],
    ...["rollout/return_mean", "eval/return_std"],
  ];
  assertEquals(ordered([...names, ...names]), [
    ...["rollout/return_mean", "eval/return_mean", "train/value_loss"],
    ...["train/entropy", "eval/return_std", "time/x"],
  ]);
});
