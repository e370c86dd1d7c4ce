import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { curveOf, groupNames } from "./plot.ts";
import { createRunFolder, type LogRow } from "@bellman/training";
import { UsageError } from "../terminal/errors.ts";
import { capture } from "../testdata/capture.ts";

const ROWS: LogRow[] = [
  { step: 40, statistics: { "time/updates": 1, "rollout/return_mean": NaN } },
  {
    step: 4000,
    statistics: { "time/updates": 100, "rollout/return_mean": 23.5 },
  },
  { step: 5000, statistics: { "eval/return_mean": 30 } },
];

Deno.test("a curve leaves out the rows without a value", () => {
  const run = "runs/a";
  for (const key of ["rollout/return_mean", "eprewmean"]) {
    assertEquals(curveOf(ROWS, { key, run }), { x: [4000], y: [23.5] });
  }
  assertEquals(curveOf(ROWS, { key: "eval/return_mean", run }).x, [5000]);
});

Deno.test("an unknown statistic and an empty log are one clear line", () => {
  const run = "runs/a";
  assertThrows(
    () => curveOf(ROWS, { key: "eprewmen", run }),
    UsageError,
    "Cannot plot 'eprewmen' of runs/a: did you mean 'eprewmean'?",
  );
  assertThrows(
    () => curveOf(ROWS, { key: "update", run }),
    UsageError,
    "did you mean 'time/updates'?",
  );
  assertThrows(
    () => curveOf([], { key: "eprewmean", run }),
    UsageError,
    "nothing has been logged yet",
  );
});

Deno.test("runs that differ in the seed alone share a group", () => {
  const base = { algorithm: "a2c", env: "CartPole-v1", gamma: 0.99 };
  assertEquals(groupNames([{ ...base, seed: 0 }, { ...base, seed: 1 }]), [
    "a2c CartPole-v1",
    "a2c CartPole-v1",
  ]);
  assertEquals(
    groupNames([{ ...base, seed: 0 }, { ...base, seed: 1, gamma: 0.9 }]),
    ["a2c CartPole-v1 gamma=0.99", "a2c CartPole-v1 gamma=0.9"],
  );
});

const dir = await Deno.makeTempDir({ prefix: "bellman-plot-" });

/** A run folder, with what it has logged. */
async function runWith(name: string, progress?: string): Promise<string> {
  const folder = createRunFolder(`${dir}/${name}`, {
    configText: `algorithm: a2c\nenv: CartPole-v1\ngamma: 0.${name.length}\n`,
  });
  if (progress !== undefined) {
    await Deno.writeTextFile(folder.progressPath, progress);
  }
  return folder.dir;
}

const logged = await runWith(
  "whole",
  "total_timesteps,eprewmean\n100,20\n200,30\n",
);
const failed = await runWith("failed");
const empty = await runWith("started", "");

Deno.test("plot skips runs that have logged nothing, with a notice", async () => {
  const paths = [`${dir}/both.svg`, `${dir}/alone.svg`];
  const both = await capture("plot", failed, logged, empty, "--out", paths[0]);
  assertEquals(both.code, 0, both.err);
  const skipped = [failed, empty]
    .map((it) => `Skipped ${it}: nothing has been logged yet\n`);
  assertEquals(both.err, skipped.join(""));
  const alone = await capture("plot", logged, "--out", paths[1]);
  assertEquals([alone.code, alone.err], [0, ""]);
  const [svg, wanted] = await Promise.all(
    paths.map((it) => Deno.readTextFile(it)),
  );
  assertEquals(svg, wanted);
});

Deno.test("plot of runs that have all logged nothing is one clear line", async () => {
  const { code, err } = await capture("plot", failed, empty);
  assertEquals(code, 2);
  assertStringIncludes(err, "Cannot plot 'rollout/return_mean' of ");
  assertStringIncludes(err, "nothing has been logged yet");
  assert(!err.includes("Skipped"));
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
