/** Runs whose environments a cluster steps, with a driver that follows a script. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import { capture, type Captured } from "../cli/testdata/capture.ts";
import { scripted } from "../envs/workers/ray/testdata/scripted.ts";
import type { Script } from "../envs/workers/ray/testdata/scripted_driver.ts";

const root = Deno.makeTempDirSync({ prefix: "bellman-ray-runs-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(root, { recursive: true }),
);
Deno.env.set("BELLMAN_RAY_PYTHON", scripted().python!);

/** Words that choose a cluster, and its script. */
function on(script: Script = {}): string[] {
  return ["--cluster", scripted(script).cluster];
}

const SETTINGS = [
  ...["--set", "numEnvs=4", "--set", "hiddenSizes=[8]"],
  ...["--set", "evaluationEpisodes=2", "--set", "checkpointInterval=400"],
  // A run that is prolonged has had the rates of a shorter one.
  ...["--set", "learningRateSchedule=constant"],
];

function train(dir: string, ...args: string[]): Promise<Captured> {
  const run = ["train", "a2c", "--env", "CartPole-v1", "--seed", "1"];
  return capture(...run, ...SETTINGS, "--quiet", "--out", dir, ...args);
}

async function assertSame(one: string, other: string): Promise<void> {
  for (const file of ["policy.onnx", "episodes.csv"]) {
    assertEquals(
      await Deno.readFile(`${one}/${file}`),
      await Deno.readFile(`${other}/${file}`),
    );
  }
}

const TWO = ["--workers", "2"];

Deno.test("a run on a cluster is the run in processes, and resumes on another one", async () => {
  const near = `${root}/near`, far = `${root}/far`, cut = `${root}/cut`;
  const processes = ["--set", "vectorization=subprocesses"];
  const first = await train(near, ...TWO, ...processes, "--steps", "800");
  assertEquals(first.code, 0, first.err);
  const second = await train(far, ...TWO, ...on(), "--steps", "800");
  assertEquals([second.code, second.err], [0, ""]);
  await assertSame(near, far);
  assert(!Deno.readTextFileSync(`${far}/config.yaml`).includes("cluster"));
  const begun = await train(cut, ...TWO, ...on(), "--steps", "400");
  assertEquals(begun.code, 0, begun.err);
  const more = ["train", "--resume", cut, "--steps", "800", "--quiet"];
  assertEquals(await capture(...more), {
    code: 2,
    out: "",
    err:
      "error: Cannot use vectorization: ray without a cluster: expected --cluster ADDRESS, auto or local\n",
  });
  const resumed = await capture(...more, ...on({ hello: { nodes: 9 } }));
  assertEquals(resumed.code, 0, resumed.err);
  assertEquals(
    Deno.readTextFileSync(`${cut}/episodes.csv`),
    Deno.readTextFileSync(`${near}/episodes.csv`),
  );
});

Deno.test("a run whose workers learn on a cluster is the run with threads, and resumes on another one", async () => {
  const settings = [
    ...["workerOrder=fixed", "stepsPerStop=50", "hiddenSizes=[8]"],
    "learningRateSchedule=constant",
  ].flatMap((it) => ["--set", it]);
  const learn = (dir: string, ...args: string[]) =>
    capture(
      ...["train", "a3c", "--env", "CartPole-v1", "--seed", "1", "--quiet"],
      ...["--set", "evaluationEpisodes=2", "--set", "checkpointInterval=100"],
      ...["--preset", "none", ...settings, "--out", dir, ...args],
    );
  const near = `${root}/threads`, far = `${root}/workers`;
  const first = await learn(near, "--workers", "3", "--steps", "400");
  assertEquals(first.code, 0, first.err);
  const two = [...TWO, "--set", "localWorkers=1"];
  const begun = await learn(far, ...two, ...on(), "--steps", "200");
  assertEquals([begun.code, begun.err], [0, ""]);
  const more = ["train", "--resume", far, "--steps", "400", "--quiet"];
  const alone = await capture(...more);
  assertMatch(alone.err, /vectorization: ray without a cluster: expected --cl/);
  const resumed = await capture(...more, ...on({ hello: { nodes: 9 } }));
  assertEquals([resumed.code, resumed.err], [0, ""]);
  assertEquals(
    Deno.readTextFileSync(`${far}/episodes.csv`),
    Deno.readTextFileSync(`${near}/episodes.csv`),
  );
  const { code, err } = await capture("eval", far, "--episodes", "2");
  assertEquals([code, err], [0, ""]);
});

Deno.test("an agent is evaluated here", async () => {
  const dir = `${root}/evaluated`;
  assertEquals((await train(dir, ...TWO, ...on(), "--steps", "200")).code, 0);
  const { code, err } = await capture("eval", dir, "--episodes", "2");
  assertEquals([code, err], [0, ""]);
});

type Refused = [what: string, args: string[], message: RegExp];

/** Clusters without a place for a run, whatever it puts there. */
const NO_PLACE: Refused[] = [
  [
    "a cluster that is not there",
    [...on({ refusal: "Cannot reach it: nothing listens." }), ...TWO],
    /^error: Cannot reach it: nothing listens\.\n$/,
  ],
  [
    "too few CPUs",
    [...on({ hello: { cpus: 1 } }), ...TWO],
    /^error: Cannot start 2 hosts: the cluster at .* has 1 CPUs, expected one/,
  ],
];

const REFUSED: Refused[] = [
  [
    "no workers",
    on(),
    /vectorization: ray without workers: expected --workers/,
  ],
  ["no cluster", ["--set", "vectorization=ray", ...TWO], /without a cluster/],
  ["half a worker", [...on(), "--workers", "1.5"], /workers = 1.5/],
  [
    "environments elsewhere",
    [...on(), ...TWO, "--set", "vectorization=sync"],
    /--cluster with vectorization: sync: expected ray/,
  ],
  ...NO_PLACE,
  [
    "several seeds with a place to listen at",
    [...on(), "--cluster-listen", "10.0.0.1", "--seeds", "2"],
    /Cannot use both --seeds and --cluster-listen/,
  ],
  [
    "several seeds, whose environments are elsewhere",
    [...on(), ...TWO, "--set", "vectorization=ray", "--seeds", "2"],
    /Cannot use vectorization: ray for several runs/,
  ],
  [
    "the size of one run",
    [...on(), ...TWO, "--cpus-per-run", "2"],
    /Cannot use --cpus-per-run without --seeds/,
  ],
];

/** Where workers learn on the cluster. */
const A3C_REFUSED: Refused[] = [
  [
    "no workers",
    [...on(), "--preset", "none"],
    /vectorization: ray without workers: expected --workers/,
  ],
  ...NO_PLACE,
  [
    "a node without Deno",
    [...on({ failure: "node 10.0.0.2 has no program 'deno'" }), ...TWO],
    /^error: Cannot start worker 0: node 10\.0\.0\.2 has no program 'deno'\n$/,
  ],
  [
    "threads beside no cluster",
    [...TWO, "--set", "localWorkers=1"],
    /localWorkers = 1 without a cluster: expected 0, as all workers are thr/,
  ],
  [
    "half a thread",
    [...on(), ...TWO, "--set", "localWorkers=0.5"],
    /localWorkers = 0\.5 of the command line: expected an integer from 0 to/,
  ],
];

for (
  const [algorithm, [what, args, message]] of [
    ...REFUSED.map((it) => ["a2c", it] as const),
    ...A3C_REFUSED.map((it) => ["a3c", it] as const),
  ]
) {
  Deno.test(`${algorithm}, ${what}: one line, and nothing is made`, async () => {
    const dir = `${root}/refused`;
    const { code, err } = await capture(
      ...["train", algorithm, "--env", "CartPole-v1", "--quiet"],
      ...["--out", dir, ...args],
    );
    assertEquals(code, 2);
    assertMatch(err, message);
    assertEquals(err.trim().split("\n").length, 1);
    assert(!existsSync(dir));
  });
}

Deno.test("a run whose cluster is gone says how it resumes", async () => {
  const dir = `${root}/gone`, once = `${root}/once`;
  const script = { once, diesWith: `${dir}/checkpoints` };
  const { code, err } = await capture(
    ...["train", "a2c", "--env", "CartPole-v1", "--quiet", "--out", dir],
    ...["--steps", "100000000", "--set", "checkpointInterval=1000"],
    ...[...TWO, ...on(script)],
  );
  assertEquals(code, 1);
  assertMatch(
    err,
    /and now Cannot reach the Ray cluster at there: nothing listens; resume from step \d+ with: deno task train:cluster --resume \S+ --cluster '/,
  );
});
