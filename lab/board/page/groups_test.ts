import { seedInterval } from "@bellman/statistics";
import {
  assertAlmostEquals,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
} from "@std/assert";
import fc from "fast-check";
import type { ShownFolder } from "../answers.ts";
import { HOME } from "./address.ts";
import { CurveMaker, groupsOf, type Line, ordered, smooth } from "./groups.ts";

function runOf(id: string, settings: Record<string, unknown>): ShownFolder {
  const env = "CartPole-v1", algorithm = "a2c";
  return {
    id,
    name: `runs/${id}`,
    environment: settings.env ?? env,
    settings: { algorithm, env, ...settings },
  } as unknown as ShownFolder;
}

const RUNS = [
  runOf("a", { seed: 0, gamma: 0.9 }),
  runOf("b", { seed: 1, gamma: 0.9, envModules: ["own.ts"] }),
  runOf("c", { seed: 0, gamma: 0.99 }),
];

Deno.test("runs are grouped by everything but the seed, or by given settings", () => {
  const names = (curves: "mean" | "runs", by: string[] = []) =>
    groupsOf(RUNS, { curves, by }).map(({ name }) => name);
  assertEquals(names("mean"), ["a2c gamma=0.9 (2 runs)", "a2c gamma=0.99"]);
  assertEquals(names("mean", ["gamma"])[0], "gamma=0.9 (2 runs)");
  assertEquals(names("runs"), ["runs/a", "runs/b", "runs/c"]);
});

Deno.test("each environment has groups of its own, in the colours of their names", () => {
  const other = { env: "Acrobot-v1", gamma: 0.5, numEnvs: 9 };
  const more = { env: "Acrobot-v1", gamma: 0.99, numEnvs: 9 };
  const runs = [...RUNS, runOf("d", other), runOf("e", more)];
  assertEquals(
    groupsOf(runs, { curves: "mean", by: [] })
      .map(({ name, environment, color }) => [name, environment, color]),
    [
      ["a2c gamma=0.5", "Acrobot-v1", 0],
      ["a2c gamma=0.9 (2 runs)", "CartPole-v1", 1],
      ["a2c gamma=0.99", "Acrobot-v1", 2],
      ["a2c gamma=0.99", "CartPole-v1", 2],
    ],
  );
});

Deno.test("a curve has the band of its seeds, and is made again only when its points or its view change", () => {
  const maker = new CurveMaker();
  const [group] = groupsOf(RUNS, { curves: "mean", by: [] });
  const lines = [{ x: [0, 1], y: [0, 1] }, { x: [0, 1], y: [2, 4] }];
  const make = (lines: Line[], view = HOME) =>
    maker.of("k", lines, { group, view, groups: 1 });
  const first = make(lines);
  assertEquals(first.y, [1, 2.5]);
  const { interval } = seedInterval([1, 4]);
  assertEquals([first.low![1], first.high![1]], interval);
  assertStrictEquals(make([...lines]), first);
  const grown = make([lines[0], { x: [0, 1], y: [4, 5] }]);
  assertNotStrictEquals(grown, first);
  assertNotStrictEquals(make(lines, { ...HOME, curves: "iqm" }), grown);
  const { low, y } = make([lines[1]]);
  assertEquals([low, y], [undefined, [2, 4]]);
});

Deno.test("smoothing keeps straight lines, ends and all places", () => {
  const straight = { x: [0, 1, 2, 3, 4], y: [0, 2, 4, 6, 8] };
  assertEquals(smooth(straight, 0), straight);
  fc.assert(fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (part) => {
    smooth(straight, part).y.forEach((it, i) =>
      assertAlmostEquals(it, straight.y[i], 1e-9)
    );
  }));
  const spike = { x: [0, 1, 2, 3, 4], y: [0, 0, 9, 0, 0] };
  assertEquals(smooth(spike, 0.4).y, [0, 3, 3, 3, 0]);
});

Deno.test("returns come first, then evaluations, ratings and losses", () => {
  const names = [
    ...[
      "time/x",
      "self_play/elo",
      "train/entropy",
      "train/value_loss",
      "eval/return_mean",
    ],
    ...["rollout/return_mean", "eval/return_std"],
  ];
  assertEquals(ordered([...names, ...names]), [
    ...["rollout/return_mean", "eval/return_mean", "self_play/elo"],
    "train/value_loss",
    ...["train/entropy", "eval/return_std", "time/x"],
  ]);
});
