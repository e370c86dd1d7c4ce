import { recordOf } from "@bellman/runs/tasks";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { csvParse } from "d3-dsv";
import { existsSync } from "node:fs";
import { stringify } from "@std/yaml";
import { capture, type Captured } from "../testdata/capture.ts";
import { mount, testWithDisk } from "../../tests/disks.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";
import {
  hasPython,
  scriptedPython,
} from "../../lab/runs/ray/testdata/scripted_ray.ts";
import { lockExperiment } from "../../lab/experiments/folder.ts";

const clustered = testsWith("Python", hasPython);

const TINY = {
  environments: ["CartPole-v1"],
  steps: 400,
  episodes: 2,
  set: { hiddenSizes: [4], evaluationEpisodes: 2, numEnvs: 2 },
  variants: { wide: { algorithm: "a2c", set: { hiddenSizes: [8] } } },
};

const FAILING = import.meta.resolve("../../tests/testdata/failing_env.ts");

const root = await Deno.makeTempDir({ prefix: "bellman-experiments-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(root, { recursive: true }),
);
let folders = 0;

/** A folder, and commands on a plan of its own. */
function experimentIn(dir = `${root}/${folders++}`) {
  const path = `${dir}.yaml`;
  return {
    dir,
    path,
    run(plan: object | string, ...args: string[]): Promise<Captured> {
      Deno.writeTextFileSync(
        path,
        typeof plan === "string" ? plan : stringify({ ...TINY, ...plan }),
      );
      return capture("experiment", path, "--out", dir, ...args);
    },
    /** Rows of the results, without what differs from one machine to another. */
    results() {
      const text = Deno.readTextFileSync(`${dir}/results.csv`);
      return csvParse(text).map(({ seconds: _, commit: __, ...row }) => row);
    },
  };
}

Deno.test("an experiment ends with every cell, and the same command then runs none", async () => {
  const both = experimentIn(), alone = experimentIn();
  const plan = { seeds: [3], variants: { a2c: {}, ...TINY.variants } };
  const first = await both.run(plan, "--jobs", "2");
  assertEquals(first.code, 0, first.err);
  assertMatch(first.out, /Running 2 of 2 cells, 2 at a time/);
  assertEquals(
    first.out.match(/^\w+\/CartPole-v1\/seed-\d: last /gm)?.length,
    2,
  );
  assertMatch(first.out, /\n2 of 2 cells finished\. Results: /);
  const results = both.results();
  assertEquals(
    results.map((it) =>
      `${it.variant} ${it.environment} ${it.seed} ${it.state} ${it.steps}`
    ),
    [
      "a2c CartPole-v1 3 finished 400",
      "wide CartPole-v1 3 finished 400",
    ],
  );
  assert(results.every((it) => Number(it.last) > 5 && Number(it.best) > 5));

  const again = await both.run(plan);
  assertEquals([again.code, again.out.includes("Running")], [0, false]);
  assertEquals(both.results(), results);

  const single = await alone.run(plan, "--jobs", "1");
  assertEquals(single.code, 0, single.err);
  assertEquals(alone.results(), results);

  // What the folder keeps is a plan, too.
  const kept = await capture("experiment", both.dir);
  assertEquals([kept.code, kept.out.includes("Running")], [0, false]);
});

testWithDisk(
  "a full disk stops an experiment, and the same command goes on with more room",
  "size=200k",
  async (disk) => {
    const { run, results } = experimentIn(`${disk}/e`);
    const plan = { seeds: 3 };
    const full = await run(plan, "--jobs", "1");
    assertEquals([full.code, full.err.split("\n").length], [1, 2], full.err);
    assertMatch(
      full.err,
      /^error: The experiment in .*\/e stopped: .*Cannot use the f\w+ .*: the disk is full; resume it with: deno task experiment .*\n$/,
    );
    await mount(disk, "remount,size=50m");
    const { code, out, err } = await run(plan, "--jobs", "1");
    assertEquals(code, 0, err);
    assertMatch(out, /^Running [23] of 3 cells/);
    assertEquals(
      results().map(({ state }) => state),
      Array(3).fill("finished"),
    );
  },
);

clustered(
  "an experiment on a cluster has the results of one here",
  async () => {
    Deno.env.set("BELLMAN_RAY_PYTHON", scriptedPython());
    const here = experimentIn(), there = experimentIn();
    const set = { ...TINY.set, checkpointInterval: 100 };
    const plan = { seeds: 2, set };
    assertEquals((await here.run(plan)).code, 0);
    const script = JSON.stringify({ cpus: [1, 0], dies: [0] });
    const { code, out, err } = await there.run(plan, "--cluster", script);
    assertEquals(code, 0, err);
    assertMatch(out, /Running 2 of 2 cells, 1 at a time/);
    assertMatch(
      err,
      /^wide\/CartPole-v1\/seed-\d: its node was lost; it is resumed elsewhere *$/m,
    );
    const [expected, results] = [here.results(), there.results()];
    assertEquals(results.map(({ resumes }) => resumes).toSorted(), ["0", "1"]);
    assertEquals(results.map((it) => ({ ...it, resumes: "0" })), expected);
    // Whatever is left of it is run anywhere.
    const again = await there.run(plan, "--cluster", '{"refusal":"Cannot"}');
    assertEquals([again.code, again.err], [0, ""]);
    assert(!again.out.includes("Running"));
  },
);

clustered(
  "a cluster that cannot be used is one line, and nothing is made",
  async () => {
    Deno.env.set("BELLMAN_RAY_PYTHON", scriptedPython());
    const refused: [object, string[], RegExp][] = [
      [
        {},
        ["--cluster", '{"refusal":"Cannot reach it."}'],
        /^error: Cannot reach it\.$/,
      ],
      [
        {},
        ["--cluster", "{}", "--cpus-per-run", "3"],
        /has more than 2; lower --cpus-per-run/,
      ],
      [{}, ["--cpus-per-run", "3"], /--cpus-per-run without --cluster/],
      [
        { set: { envModules: [FAILING] }, environments: ["Failing-v0"] },
        ["--trust", "--cluster", "{}"],
        /Cannot ship file:.*failing_env\.ts to the cluster: .* --cluster-code here/,
      ],
    ];
    for (const [plan, args, message] of refused) {
      const { run, dir } = experimentIn();
      const { code, err } = await run(plan, ...args);
      assertEquals(code, 2, err);
      assertMatch(err.trim(), message);
      assertEquals(err.trim().split("\n").length, 1);
      assert(!existsSync(dir));
    }
  },
);

Deno.test("a plan may grow, and may not change cells that exist", async () => {
  const { run, results, dir } = experimentIn();
  assertEquals((await run({ seeds: 1 }, "--jobs", "1")).code, 0);
  const [before] = results();
  const more = await run({ seeds: 2 }, "--jobs", "1");
  assertMatch(more.out, /Running 1 of 2 cells/);
  assertEquals(results()[0], before);
  const changes: [object, string][] = [
    [{ seeds: 3, steps: 500 }, "totalTimesteps"],
    [{ seeds: 2, episodes: 3 }, "episodes"],
    [
      { seeds: 2, set: { ...TINY.set, gamma: 0.5, numEnvs: 4 } },
      "numEnvs, gamma",
    ],
  ];
  for (const [plan, keys] of changes) {
    const { code, err } = await run(plan);
    assertEquals([code, err], [
      2,
      `error: Cannot change ${keys} of wide/CartPole-v1/seed-0, which exists: give the variant another name, or remove its folder\n`,
    ]);
  }
  assert(!existsSync(`${dir}/runs/wide/CartPole-v1/seed-2`));
  const flag = await run({ seeds: 2 }, "--set", "numEnvs=4");
  assertMatch(flag.err, /Cannot change numEnvs of/);
});

Deno.test("a cell that fails is told and recorded, and the others are run", async () => {
  const { run, results, dir } = experimentIn();
  const broken = {
    algorithm: "a2c",
    set: { envKwargs: { how: "throw text" } },
  };
  const plan = {
    environments: ["Failing-v0"],
    seeds: 1,
    variants: { broken, ...TINY.variants },
    set: { ...TINY.set, envModules: [FAILING] },
  };
  const failed = await run(plan, "--trust", "--jobs", "2");
  assertEquals(failed.code, 1, failed.err);
  assertMatch(failed.out, /1 of 2 cells finished, 1 failed\. Results/);
  assertMatch(
    failed.err,
    /^broken\/Failing-v0\/seed-0 failed: .*no luck/m,
  );
  assertMatch(
    failed.err,
    /1 cell failed; run it again with: deno task experiment .* --retry/,
  );
  assertEquals(results().map((it) => it.state), ["failed", "finished"]);
  assertMatch(results()[0].message!, /no luck/);
  const again = await run(plan, "--trust");
  assertEquals([again.code, again.out.includes("Running")], [1, false]);
  const retried = await run(plan, "--trust", "--retry");
  assertMatch(retried.out, /Running 1 of 2 cells/);
  assertEquals(retried.code, 1);
  const { state, reason } = recordOf(`${dir}/runs/broken/Failing-v0/seed-0`)!;
  assertEquals([state, reason?.includes("no luck")], ["failed", true]);
});

Deno.test("--print shows the commands, and --only and --shard choose cells", async () => {
  const { run, dir } = experimentIn();
  const plan = { seeds: "7..9" };
  const { code, out } = await run(
    plan,
    "--print",
    "--only",
    "wide/*/seed-8",
    "--jobs",
    "2",
  );
  assertEquals(code, 0);
  assertEquals(
    out,
    `# 1 of 3 cells
deno task train a2c --env CartPole-v1 --steps 400 --set 'hiddenSizes=[8]' --set evaluationEpisodes=2 --set numEnvs=2 --set threads=1 --seed 8 --out ${dir}/runs/wide/CartPole-v1/seed-8 --quiet
`,
  );
  assert(!existsSync(dir));
  const shards = await Promise.all(
    ["1/2", "2/2"].map((it) => run(plan, "--print", "--shard", it)),
  );
  assertEquals(shards.map(({ out }) => out.match(/seed-\d/g)), [[
    "seed-7",
    "seed-9",
  ], ["seed-8"]]);
  const refused = await run(plan, "--only", "wid");
  assertMatch(
    refused.err,
    /none of the 3 cells has such a name, as wide\/CartPole-v1\/seed-7 is one/,
  );
});

Deno.test("--set goes before what the plan sets, its steps too", async () => {
  const { run } = experimentIn();
  const own = ["--set", "hiddenSizes=[6]", "--set", "totalTimesteps=500"];
  const { code, out, err } = await run({ seeds: 1 }, "--print", ...own);
  assertEquals(code, 0, err);
  assertMatch(
    out,
    /--env CartPole-v1 --set evaluationEpisodes=2 --set numEnvs=2 --set 'hiddenSizes=\[6\]' --set totalTimesteps=500 /,
  );
});

Deno.test("--set goes before what the plan sets by another of its names", async () => {
  const { run } = experimentIn();
  const own = ["--set", "num_envs=3", "--set", "total_timesteps=500"];
  const { code, out, err } = await run({ seeds: 1 }, "--print", ...own);
  assertEquals(code, 0, err);
  assertMatch(out, /--set num_envs=3 --set total_timesteps=500 /);
  assert(!/numEnvs|--steps/.test(out));
});

Deno.test("--only needs the environments of the chosen cells alone", async () => {
  const { run, dir, results } = experimentIn();
  const away = { algorithm: "a2c", environments: ["NoSuch-v0"] };
  const plan = { seeds: 1, variants: { ...TINY.variants, away } };
  const refused = await run(plan);
  assertEquals(refused.code, 2);
  assertMatch(refused.err, /NoSuch-v0/);
  assert(!existsSync(dir));
  const { code, err } = await run(plan, "--only", "wide");
  assertEquals(code, 0, err);
  assertEquals(err.includes("NoSuch-v0"), false, err);
  assertEquals(results().map(({ state }) => state), ["finished", "missing"]);
});

Deno.test("two drivers of the same cells are not let in, those of different shards are", async () => {
  const { run, dir } = experimentIn();
  const lock = lockExperiment(dir);
  const { code, err } = await run({ seeds: 1 });
  assertEquals(code, 2);
  assertMatch(
    err,
    new RegExp(
      `Cannot run the experiment ${dir}: process ${Deno.pid} on .* runs it at present`,
    ),
  );
  lock.release();
  const shards = [1, 2].map((part) => lockExperiment(dir, { part, of: 2 }));
  for (const shard of [undefined, { part: 1, of: 2 }, { part: 1, of: 3 }]) {
    let message = "";
    try {
      lockExperiment(dir, shard);
    } catch (error) {
      message = (error as Error).message;
    }
    assertMatch(message, /runs it at present/);
  }
  shards.forEach((it) => it.release());
  lockExperiment(dir).release();
});

Deno.test({
  name:
    "an environment that Python lacks is missed before anything runs [Gymnasium]",
  ignore: !hasGymnasium(),
  async fn() {
    const { run, dir } = experimentIn();
    const environments = ["CartPole-v1", "gym:CartPool-v1"];
    const { code, err } = await run({ environments, set: {} });
    assertEquals(code, 2);
    assertMatch(
      err,
      /^error: Cannot use wide on gym:CartPool-v1: .*CartPole-v1/,
    );
    assert(!existsSync(dir));
  },
});

const REFUSED: readonly [
  what: string,
  plan: object | string,
  args: string[],
  message: RegExp,
][] = [
  [
    "an environment that is missing",
    { environments: ["CartPole-v1", "CartPolle-v1"] },
    [],
    /did you mean 'CartPole-v1'/,
  ],
  [
    "an algorithm that is missing",
    { variants: { a3d: {} } },
    [],
    /a3d on CartPole-v1: Unknown algorithm 'a3d': did you mean 'a3c'/,
  ],
  [
    "a setting that is missing",
    { variants: { a2c: { set: { gama: 1 } } } },
    [],
    /Unknown key 'gama' in the command line: did you mean 'gamma'/,
  ],
  [
    "a setting that is not valid",
    { variants: { a2c: { set: { gamma: 2 } } } },
    [],
    /Cannot use a2c on CartPole-v1: Cannot use gamma = 2/,
  ],
  [
    "an algorithm that cannot learn in its environment",
    { variants: { td3: {} } },
    [],
    /Cannot use td3 on CartPole-v1: Cannot run TD3 with actions of type discrete/,
  ],
  [
    "a preset that is missing",
    { variants: { a2c: { preset: "CartPole-v2" } } },
    [],
    /Unknown preset 'CartPole-v2'/,
  ],
  [
    "a seed among the settings",
    { variants: { a2c: { set: { seed: 2 } } } },
    [],
    /Cannot use both '--set seed=2' and 'seed'/,
  ],
  [
    "steps that are too many",
    { steps: 1e300 },
    [],
    /Cannot use steps = 1e\+300/,
  ],
  [
    "many cells unasked",
    { seeds: 1_000_000 },
    [],
    /Cannot run 1,000,000 cells unasked: add --yes/,
  ],
  ["no jobs", {}, ["--jobs", "0"], /Cannot use --jobs 0/],
  ["a shard that is none", {}, ["--shard", "3/2"], /Cannot use --shard 3\/2/],
  [
    "code that nobody trusts",
    { variants: { a2c: { set: { envModules: ["../own.ts"] } } } },
    [],
    /would import file:.*own\.ts; read that code first, then add --trust/,
  ],
  ["no plan", "", [], /it has no variants/],
];

for (const [what, plan, args, message] of REFUSED) {
  Deno.test(`${what}: one line, and nothing is made`, async () => {
    const { run, dir } = experimentIn();
    const { code, err, out } = await run(plan, ...args);
    assertEquals(
      [code, out, err.trimEnd().split("\n").length],
      [2, "", 1],
      err,
    );
    assertMatch(err, message);
    assert(!existsSync(dir));
  });
}

Deno.test("a folder of something else is left alone", async () => {
  for (
    const [name, message] of [["trials.jsonl", /it holds a search/], [
      "notes.txt",
      /it holds notes\.txt, and no experiment/,
    ]] as const
  ) {
    const { run, dir } = experimentIn();
    Deno.mkdirSync(dir);
    Deno.writeTextFileSync(`${dir}/${name}`, "");
    const { code, err } = await run({});
    assertEquals(code, 2);
    assertMatch(err, message);
    assertEquals([...Deno.readDirSync(dir)].length, 1);
  }
  const { code, err } = await capture("experiment", `${root}/none.yaml`);
  assertEquals(code, 2);
  assertMatch(err, /Cannot read the plan .*none\.yaml/);
  assertMatch(
    (await capture("experiment")).err,
    /Cannot run 0 plans: expected one file/,
  );
});
