import { RunFolder } from "@bellman/runs";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { existsSync } from "node:fs";
import { parseSvg } from "../../algorithms/training/testdata/parse_svg.ts";
import { capture, type Captured } from "../../cli/testdata/capture.ts";
import { mount, testWithDisk } from "../../tests/disks.ts";
import { lockFile } from "@bellman/runs";
import { testsWith } from "../../tests/testdata/tests_with.ts";
import {
  hasPython,
  scriptedPython,
} from "../runs/ray/testdata/scripted_ray.ts";
import { runExperiment } from "@bellman/experiments";
import { runSearch, searchPlanOf } from "./mod.ts";
import { hasOptuna } from "./testdata/has_optuna.ts";
import { withSearch } from "./testdata/with_search.ts";

/** Settings of runs that take a second. */
const TINY = `preset: none
steps: 600
set: { hiddenSizes: [8], evaluationInterval: 200, evaluationEpisodes: 2, learningRate: 1e-5 }
`;
const CART_POLE = `algorithm: a2c
environment: CartPole-v1
sampler: random
${TINY}`;
const SPACE = "space: { learningRate: { min: 1e-4, max: 1e-1, scale: log } }\n";

function recordOf(dir: string): string {
  return Deno.readTextFileSync(`${dir}/trials.jsonl`);
}

/** Copies a folder, in place of what is there. */
function putCopy(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) putCopy(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Checks that a search of three trials goes on with a damaged record. */
async function checkMended(
  search: () => Promise<Captured>,
  dir: string,
): Promise<void> {
  const path = `${dir}/trials.jsonl`, record = recordOf(dir);
  const lines = record.split("\n");
  const asked = lines.findIndex((it) => it.includes('"ask","trial":2'));
  // As if several at a time had been drawn in another order.
  putCopy(`${dir}/trials/0001`, `${dir}/trials/0002`);
  Deno.writeTextFileSync(path, record.replace(lines[asked], "?"));
  const { code, err } = await search();
  assertEquals(code, 0, err);
  const [told, moved, ...rest] = err.trimEnd().split("\n");
  assertEquals(
    told,
    `${path} is damaged: line ${
      asked + 1
    } is not as the search wrote it; the search goes on from the line before, and ${path}.damaged is the file as it was`,
  );
  assertMatch(
    moved,
    /trials\/0002 holds runs of other settings than trial 2 has: it is .*trials\/0002\.\d+ now$/,
  );
  assertEquals(rest, []);
  assertEquals(recordOf(dir), record);
}

/** Checks that no run is taken for another trial's, and no settings from anywhere. */
async function checkOwnRuns(
  search: () => Promise<Captured>,
  dir: string,
): Promise<void> {
  const path = `${dir}/trials.jsonl`, record = recordOf(dir);
  const lines = record.split("\n");
  const end = lines.findIndex((it) => it.includes('"tell","trial":2'));
  const unfinished = `${lines.slice(0, end).join("\n")}\n`;
  const cases: [string, string, string][] = [
    [record, "trials/0001/seed-0", "trials/0002/seed-0"],
    [unfinished, "trials/0001/seed-0", "trials/0002/seed-0"],
    [record, "confirmation/0000/seed-1", "confirmation/0000/seed-2"],
  ];
  for (const [record, from, to] of cases) {
    Deno.renameSync(`${dir}/${to}`, `${dir}/whole`);
    putCopy(`${dir}/${from}`, `${dir}/${to}`);
    Deno.writeTextFileSync(path, record);
    const { code, err } = await search();
    assertEquals(code, 2, err);
    assertMatch(
      err,
      /^error: Cannot use the run .* for trial \d: it has another (learningRate|seed); move it away\n$/,
    );
    assertEquals(recordOf(dir), record);
    Deno.removeSync(`${dir}/${to}`, { recursive: true });
    Deno.renameSync(`${dir}/whole`, `${dir}/${to}`);
  }
  const forged = record.replace(
    '"params":{"learningRate":0.00001',
    '"params":{"learningRate":0.00003',
  );
  Deno.writeTextFileSync(path, forged);
  const { code, err } = await search();
  assertEquals([code, err], [
    2,
    `error: Cannot resume ${dir}: its trial 0 had {"learningRate":0.00003}, expected {"learningRate":0.00001}; name another folder with --out\n`,
  ]);
  assertEquals(recordOf(dir), forged);
  Deno.writeTextFileSync(path, record);
}

Deno.test("a search tries, confirms and reports, and the same command goes on", () =>
  withSearch(async (search, dir) => {
    const text =
      `${CART_POLE}${SPACE}trials: 3\nconfirm: { top: 1, seeds: 2 }\n`;
    const { code, out, err } = await search(text);
    assertEquals([code, err], [0, ""]);
    assertMatch(out, /^Searching a2c on CartPole-v1: 3 trials of 1 seed\n/);
    assertMatch(out, /\nTrial 2: .* 3 of 3\nConfirming trials /);
    assertMatch(out, / with the seeds 1 to 2\n/);
    const best = Deno.readTextFileSync(`${dir}/best.yaml`);
    assertMatch(
      best,
      /^# Found by 'deno task search .*': 3 trials of random, seed 0\.\n/,
    );
    assertMatch(best, /\nalgorithm: a2c\nenv: CartPole-v1\n[^]*learningRate: /);
    const run = [
      "--config",
      `${dir}/best.yaml`,
      "--steps",
      "100",
      "--quiet",
      "--out",
    ];
    assertEquals((await capture("train", ...run, `${dir}/run`)).code, 0);
    const page = Deno.readTextFileSync(`${dir}/search.html`);
    for (const title of ["Confirmation", "History"]) {
      assertStringIncludes(page, `aria-label="${title}"`);
    }
    for (const [svg] of page.matchAll(/<svg xmlns[^]*?\n<\/svg>/g)) {
      parseSvg(svg);
    }
    const record = recordOf(dir);
    const again = await search(text);
    assertEquals([again.code, again.err], [0, ""]);
    assertMatch(again.out, /^Resuming .*, 3 of them done\n/);
    assertEquals(recordOf(dir), record);
    assertEquals(Deno.readTextFileSync(`${dir}/search.html`), page);
    await checkMended(() => search(text), dir);
    assertEquals(Deno.readTextFileSync(`${dir}/search.html`), page);
    await checkOwnRuns(() => search(text), dir);
    const more = await search(text, "--trials", "4");
    assertEquals(more.code, 0, more.err);
    assertMatch(more.out, /\nTrial 3: .*; 4 of 4\n/);
    assert(recordOf(dir).startsWith(record));
    const other = await search(
      text.replace("hiddenSizes: [8]", "hiddenSizes: [9]"),
    );
    assertEquals([other.code, other.err], [
      2,
      `error: Cannot resume ${dir}: it was begun with other values of set; name another folder with --out\n`,
    ]);
    const lock = lockFile(`${dir}/search.lock`, String);
    const second = await search(text);
    lock.release();
    assertEquals(second.code, 2);
    assertMatch(
      second.err,
      /^error: Cannot search in .*: process \d+ on .* does so at present\n$/,
    );
  }));

testsWith("Python", hasPython)(
  "runs on a cluster give the trials and the best settings of runs here",
  () =>
    withSearch(async (search, dir) => {
      Deno.env.set("BELLMAN_RAY_PYTHON", scriptedPython());
      const text =
        `${CART_POLE}${SPACE}trials: 2\npruner: none\nconfirm: { top: 1, seeds: 1 }\n`
          .replace("set: {", "set: { checkpointInterval: 100,");
      assertEquals((await search(text)).code, 0);
      const record = recordOf(dir);
      const best = Deno.readTextFileSync(`${dir}/best.yaml`);
      await Deno.remove(dir, { recursive: true });
      const cluster = JSON.stringify({ cpus: [1], dies: [0] });
      const { code, out, err } = await search(text, "--cluster", cluster);
      assertEquals(code, 0, err);
      assertMatch(
        `${out}${err}`,
        /\/trials\/0000\/seed-0: its node was lost; it is resumed elsewhere/,
      );
      assertEquals(recordOf(dir), record);
      const named = / --cluster '[^']*'/;
      const found = Deno.readTextFileSync(`${dir}/best.yaml`);
      assertEquals(found.replace(named, ""), best);
    }),
);

Deno.test("trials that fail are no low scores, and ten in a row stop the search", () =>
  withSearch(async (search, dir) => {
    // Of 16 steps no trial but the first can make as many minibatches.
    const text = `algorithm: ppo
environment: CartPole-v1
sampler: random
preset: none
steps: 64
seeds: 1
trials: 30
set: { hiddenSizes: [8], numEnvs: 2, numSteps: 8, minibatches: 2, evaluationEpisodes: 1 }
space: { minibatches: [3, 5, 7] }
confirm: { top: 1, seeds: 1 }
`;
    const { code, out, err } = await search(text, "--jobs", "3");
    assertEquals(code, 1);
    assertMatch(
      err,
      /^error: The search in .* failed: 10 trials failed one after the other, the last one: Cannot run PPO with minibatches = \d of 16 steps.*; resume it with: deno task search [^\n]*\n$/,
    );
    assertMatch(out, /\nTrial 2 failed: Cannot run PPO/);
    assertMatch(recordOf(dir), /"state":"failed","message":"Cannot run PPO/);
    const { code: few, out: rest } = await search(text, "--trials", "10");
    assertEquals(few, 0);
    assertStringIncludes(
      rest,
      "Trial 0, the settings without a search, is not beaten",
    );
  }));

Deno.test("a search whose first trial cannot be run leaves nothing", () =>
  withSearch(async (search, dir) => {
    const text = `algorithm: ppo
environment: CartPole-v1
sampler: random
trials: 3
preset: none
set: { minibatches: 7, numEnvs: 2, numSteps: 8 }
space: { gamma: [0.9, 0.99] }
`;
    const { code, err } = await search(text);
    assertEquals(code, 2);
    assertMatch(err, /^error: Cannot run PPO with minibatches = 7 .*\n$/);
    assert(!existsSync(dir));
  }));

Deno.test("the checkpoints of the best five trials stay, or those of all", () =>
  withSearch(async (search, dir) => {
    const text =
      `${CART_POLE}${SPACE}trials: 7\nconfirm: { top: 1, seeds: 1 }\n`
        .replace("steps: 600", "steps: 100");
    const kept = () =>
      [...Array(7).keys()].filter((it) =>
        existsSync(
          new RunFolder(`${dir}/trials/000${it}/seed-0`).checkpointsDir,
        )
      ).length;
    assertEquals((await search(text, "--keep", "all", "--jobs", "2")).code, 0);
    assertEquals(kept(), 7);
    assertEquals((await search(text)).code, 0);
    assertEquals(kept(), 5);
  }));

Deno.test("a number of runs at a time that cannot be leaves nothing", async () => {
  const common = { name: "none", steps: 100 };
  const plan = await searchPlanOf({
    ...{ ...common, algorithm: "a2c", environment: "CartPole-v1", trials: 1 },
    ...{ space: { numSteps: [5, 16] }, sampler: "random" },
  });
  const cells = {
    ...common,
    environments: ["CartPole-v1"],
    variants: { a2c: {} },
  };
  for (const jobs of [0, -1, 1.5, NaN]) {
    const dir = `${await Deno.makeTempDir()}/none`, options = { dir, jobs };
    for (
      const run of [
        () => runSearch(plan, options),
        () => runExperiment(cells, options),
      ]
    ) {
      await assertRejects(
        run,
        Error,
        `Cannot use jobs = ${jobs}: expected a whole number`,
      );
      assert(!existsSync(dir));
    }
  }
});

Deno.test("a search refuses folders of others, and options that mean nothing", () =>
  withSearch(async (search, dir) => {
    const text = `${CART_POLE}${SPACE}trials: 1\n`;
    const cases: [string[], RegExp][] = [
      [["--keep", "some"], /Cannot use --keep some: expected all/],
      [["--jobs", "0"], /Cannot use --jobs 0: expected an integer/],
      [
        ["--trails", "3"],
        /Unknown option '--trails': did you mean '--trials'\?/,
      ],
      [["more"], /Cannot search 'more', too: expected one file/],
      [["--export-optuna", `${dir}.log`], /it has no trials yet/],
    ];
    for (const [options, message] of cases) {
      const { code, err } = await search(text, ...options);
      assertEquals(code, 2);
      assertMatch(err, message);
      assert(!existsSync(dir));
    }
    Deno.mkdirSync(dir);
    Deno.writeTextFileSync(`${dir}/mine.txt`, "");
    assertMatch(
      (await search(text)).err,
      /it holds other files, such as mine.txt/,
    );
    Deno.renameSync(`${dir}/mine.txt`, `${dir}/plan.yaml`);
    assertMatch((await search(text)).err, /it is the folder of an experiment/);
    Deno.renameSync(`${dir}/plan.yaml`, `${dir}/trials.jsonl`);
    Deno.writeTextFileSync(`${dir}/trials.jsonl`, "{}\n");
    assertMatch((await search(text)).err, /trials.jsonl: line 1 is not as/);
    assertEquals(Deno.readTextFileSync(`${dir}/trials.jsonl`), "{}\n");
  }));

Deno.test({
  name: "the trials of a search are exported for optuna-dashboard [Optuna]",
  ignore: !hasOptuna(),
  fn: () =>
    withSearch(async (search, dir) => {
      const text =
        `${CART_POLE}${SPACE}trials: 2\nconfirm: { top: 1, seeds: 1 }\n`;
      assertEquals((await search(text)).code, 0);
      const record = recordOf(dir), path = `${dir}/journal.log`;
      const { code, out, err } = await search(text, "--export-optuna", path);
      assertEquals([code, out, err], [0, `Wrote ${path}: 2 trials\n`, ""]);
      const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
      assertEquals(JSON.parse(lines[0]).study_name, "s");
      assertEquals(recordOf(dir), record);
      const again = await search(text, "--export-optuna", path);
      assertEquals(
        again.err,
        `error: Cannot write ${path}: it is there already\n`,
      );
    }),
});

testWithDisk(
  "a full disk stops a search, which resumes with more room",
  "size=300k",
  async (disk) => {
    const file = `${disk}/s.yaml`, dir = `${disk}/s`;
    Deno.writeTextFileSync(
      file,
      `${CART_POLE}${SPACE}trials: 2\nconfirm: { top: 1, seeds: 1 }\n`,
    );
    const search = () => capture("search", file, "--out", dir);
    const { code, err } = await search();
    assertEquals(code, 1);
    assertMatch(
      err,
      /^error: The search in .* failed: .*the disk is full; resume it with: deno task search [^\n]*\n$/,
    );
    assert(!recordOf(dir).includes('"failed"'));
    await mount(disk, "remount,size=64m");
    const { code: resumed, out } = await search();
    assertEquals(resumed, 0);
    assertStringIncludes(out, "; 2 of 2\n");
  },
);

Deno.test({
  name: "Ctrl-C saves a search, and the same command goes on",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withSearch(async (search, dir) => {
      const text =
        `${CART_POLE}${SPACE}trials: 2\nconfirm: { top: 1, seeds: 1 }\n`
          .replace("steps: 600", "steps: 15000");
      const file = dir.replace(/s$/, "s.yaml");
      Deno.writeTextFileSync(file, text);
      const main = new URL("../../cli/main.ts", import.meta.url).pathname;
      const driver = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "-q",
          "--no-check",
          main,
          "search",
          file,
          "--out",
          dir,
        ],
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const ended = driver.output();
      const hasBegun = () =>
        existsSync(`${dir}/trials.jsonl`) && recordOf(dir).includes('"report"');
      while (!hasBegun()) await new Promise((done) => setTimeout(done, 20));
      driver.kill("SIGINT");
      const { code, stdout, stderr } = await ended;
      const [out, err] = [stdout, stderr].map((it) =>
        new TextDecoder().decode(it)
      );
      assertEquals(code, 130);
      assertMatch(
        err,
        /^Stopping and saving; a second Ctrl-C ends the search at once\n/,
      );
      assertMatch(
        out,
        /\nInterrupted; everything is saved\. Resume with: deno task search [^\n]*\n$/,
      );
      assert(!recordOf(dir).includes('"tell"'));
      assert(
        existsSync(new RunFolder(`${dir}/trials/0000/seed-0`).checkpointsDir),
      );
      // With fewer steps to be done sooner, it is another search.
      const other = await search(text.replace("15000", "600"));
      assertMatch(other.err, /begun with other values of steps;/);
      const whole = await search(text);
      assertEquals(whole.code, 0, whole.err);
    }),
});
