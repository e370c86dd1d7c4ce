import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { curveOf, groupNames } from "../../lab/runs/plots/run_curves.ts";
import { createRunFolder } from "@bellman/runs";
import type { LogRow } from "@bellman/training";
import { capture } from "../testdata/capture.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

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
    assertEquals(curveOf({ run, rows: ROWS }, { key }), {
      x: [4000],
      y: [23.5],
    });
  }
  assertEquals(curveOf({ run, rows: ROWS }, { key: "eval/return_mean" }).x, [
    5000,
  ]);
});

Deno.test("an unknown statistic and an empty log are one clear line", () => {
  const run = "runs/a";
  assertRefused({
    "UsageError: Cannot plot 'eprewmen' of runs/a: did you mean 'eprewmean'?":
      () => curveOf({ run, rows: ROWS }, { key: "eprewmen" }),
    "UsageError: did you mean 'time/updates'?": () =>
      curveOf({ run, rows: ROWS }, { key: "update" }),
    "UsageError: Cannot plot 'temperature' of runs/a: expected one of time/updates, rollout/return_mean, eval/return_mean":
      () => curveOf({ run, rows: ROWS }, { key: "temperature" }),
    "UsageError: nothing has been logged yet": () =>
      curveOf({ run, rows: [] }, { key: "eprewmean" }),
  });
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
  // Nor do videos, or what is of another algorithm.
  assertEquals(
    groupNames([
      { ...base, videoInterval: 0 },
      { ...base, videoInterval: 100 },
      { ...base, algorithm: "sac", gamma: 0.9, tau: 0.01 },
    ]),
    ["a2c CartPole-v1", "a2c CartPole-v1", "sac CartPole-v1"],
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
  "time/steps,rollout/return_mean\n100,20\n200,30\n",
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

Deno.test("plot has title, axes and band in words, and the line at which the environment is solved", async () => {
  const other = await runWith(
    "other",
    "time/steps,rollout/return_mean\n100,25\n200,35\n",
  );
  const path = `${dir}/words.svg`;
  const drawn = async (...options: string[]) => {
    const { code, err } = await capture(
      ...["plot", logged, other, "--out", path, ...options],
    );
    assertEquals([code, err], [0, ""]);
    return await Deno.readTextFile(path);
  };
  const svg = await drawn();
  const cases = [
    "Return on CartPole-v1",
    "Environment steps",
    "95 % bootstrap interval of the mean",
    "solved: 475",
  ];
  for (const text of cases) assertStringIncludes(svg, text);
  assertStringIncludes(await drawn("--band", "std"), "one standard deviation");
  assertStringIncludes(await drawn("--band", "iqr"), "quartile");
  assertStringIncludes(await drawn("--threshold", "33"), ">33<");
  assert(await drawn("--smooth", "0.5") !== "");
});

Deno.test("plot has steps, time or episodes along its axis", async () => {
  const rows: LogRow[] = [
    { step: 10, statistics: { "time/seconds": 60, a: 1 } },
    { step: 20, statistics: { "time/seconds": 7200, a: 2 } },
    { step: 20, statistics: { a: 3 } },
  ];
  const episodesPath = `${dir}/episodes.csv`;
  await Deno.writeTextFile(
    episodesPath,
    "step,env,return,length,terminated,life_returns\n4,0,1,1,1,\n10,0,1,1,1,\n12,1,1,1,0,\n",
  );
  const of = (x: "steps" | "time" | "episodes") =>
    curveOf({ run: "a", rows, episodesPath }, { key: "a", x }).x;
  assertEquals(of("steps"), [10, 20, 20]);
  assertEquals(of("time"), [60, 7200, 7200]);
  assertEquals(of("episodes"), [2, 3, 3]);
  assertRefused({
    "UsageError: Cannot plot a over episodes: it has no episodes.csv": () =>
      curveOf({ run: "a", rows }, { key: "a", x: "episodes" }),
  });
  const timeless = [{ step: 1, statistics: { a: 1 } }];
  assertRefused({
    "UsageError: Cannot plot a over time: its log has no time/seconds": () =>
      curveOf({ run: "a", rows: timeless }, { key: "a", x: "time" }),
  });
});

Deno.test("runs of several environments have a panel each, with one colour a name", async () => {
  const runs = await Promise.all(
    ["a2c CartPole-v1", "sac CartPole-v1", "sac Pendulum-v1"].map(
      async (name, i) => {
        const [algorithm, env] = name.split(" ");
        const folder = createRunFolder(`${dir}/${i}`, {
          configText: `algorithm: ${algorithm}\nenv: ${env}\n`,
        });
        await Deno.writeTextFile(
          folder.progressPath,
          `time/steps,rollout/return_mean\n100,${-900 * i}\n200,20\n`,
        );
        return folder.dir;
      },
    ),
  );
  const path = `${dir}/panels.svg`;
  const { code, err } = await capture("plot", ...runs, "--out", path);
  assertEquals([code, err], [0, ""]);
  const svg = await Deno.readTextFile(path);
  const [whole, first, second, ...others] = svg
    .split(/(?=<svg [^>]*role="img")/).slice(0);
  assertEquals(others, []);
  assertStringIncludes(whole, "<title>Return on CartPole-v1, Pendulum-v1<");
  assertStringIncludes(first, "<title>CartPole-v1<");
  assertStringIncludes(second, "<title>Pendulum-v1<");
  assertStringIncludes(first, "solved: 475");
  assert(!second.includes("solved: 475"));
  const colorOf = (panel: string, name: string) =>
    panel.match(RegExp(`bp-color(\\d)[^>]*>[^>]*>[^>]*>${name}<`))?.[1];
  assertEquals(colorOf(first, "a2c"), "0");
  assertEquals([first, second].map((it) => colorOf(it, "sac")), ["1", "1"]);
  const page = `${dir}/panels.html`;
  assertEquals((await capture("plot", ...runs, "--out", page)).code, 0);
  const html = await Deno.readTextFile(page);
  assertEquals(html.match(/<svg [^>]*role="img"/g)?.length, 6);
});

Deno.test("plot as a page has a drawing for phones", async () => {
  const path = `${dir}/page.html`;
  assertEquals((await capture("plot", logged, "--out", path)).code, 0);
  const html = await Deno.readTextFile(path);
  assertEquals(html.match(/<svg [^>]*role="img"/g)?.length, 2);
  assertStringIncludes(html, "width=device-width");
});

/** An experiment of two variants with some seeds, in a new folder. */
async function experiment(name: string, seeds: number): Promise<string> {
  for (const [i, variant] of ["fast", "slow"].entries()) {
    for (let seed = 0; seed < seeds; seed++) {
      const run = `${name}/runs/${variant}/CartPole-v1/seed-${seed}`;
      const folder = createRunFolder(`${dir}/${run}`, {
        configText: `algorithm: a2c\nenv: CartPole-v1\nseed: ${seed}\n`,
      });
      await Deno.writeTextFile(
        folder.progressPath,
        `time/steps,rollout/return_mean\n100,${seed}\n200,${20 * i + seed}\n`,
      );
    }
  }
  await Deno.writeTextFile(`${dir}/${name}/plan.yaml`, "name: a\n");
  return `${dir}/${name}`;
}

Deno.test("plot takes experiments: a curve for each variant", async () => {
  const path = `${dir}/experiment.svg`;
  const one = await experiment("one", 3);
  assertEquals((await capture("plot", one, "--out", path)).code, 0);
  const svg = await Deno.readTextFile(path);
  for (const it of ["fast", "slow"]) {
    assertStringIncludes(svg, `${it} (3 runs)`);
  }
  const two = await experiment("two", 5);
  assertEquals((await capture("plot", one, two, "--out", path)).code, 0);
  assertStringIncludes(await Deno.readTextFile(path), "two/slow (5 runs)");
  const none = `${dir}/none`;
  await Deno.mkdir(`${none}/runs`, { recursive: true });
  await Deno.writeTextFile(`${none}/plan.yaml`, "name: a\n");
  const { code, err } = await capture("plot", none);
  assertEquals(code, 2);
  assertStringIncludes(err, `Cannot plot ${none}: none of its runs has begun`);
});

Deno.test("plot --aggregate iqm draws interquartile means, and marks few runs", async () => {
  const path = `${dir}/iqm.svg`;
  const drawn = async (seeds: number, ...options: string[]) => {
    const folder = await experiment(`iqm-${seeds}${options.join("")}`, seeds);
    const args = ["plot", folder, "--aggregate", "iqm", "--out", path];
    assertEquals((await capture(...args, ...options)).code, 0);
    return await Deno.readTextFile(path);
  };
  const words = "interquartile mean of the runs; band: 95 % bootstrap interval";
  const svg = await drawn(5);
  assertStringIncludes(svg, words);
  assertStringIncludes(svg, "slow (5 runs)");
  assertStringIncludes(svg, "bp-band");
  assert(!svg.includes("few runs"));
  const few = await drawn(4);
  assertStringIncludes(few, "few runs");
  const plain = await drawn(4, "--band", "none");
  assert(!/few runs|class="[^"]*bp-band/.test(plain));
  for (const wrong of [["--band", "std"], ["--smooth", "0.1"]]) {
    const { code, err } = await capture(
      ...["plot", logged, "--aggregate", "iqm", ...wrong],
    );
    assertEquals(code, 2);
    assertStringIncludes(err, "Cannot use --aggregate iqm with another --band");
  }
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
