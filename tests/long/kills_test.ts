/** A short series of kills, and that it finds what is not right. */
import { ALGORITHMS } from "@bellman/runs/settings";
import { isXlaInstalled } from "@bellman/compute/xla";
import { SeededRandom } from "@bellman/envs";
import { isAtariInstalled } from "@bellman/envs/atari";
import { isMujocoInstalled } from "@bellman/envs/mujoco";
import { assert, assertEquals } from "@std/assert";
import { DRAWN_ALGORITHMS, type DrawnRun, drawRun } from "../kills/draw_run.ts";
import { type KilledRun, killRun } from "../kills/kill_run.ts";
import { runDeno } from "../testdata/run_deno.ts";

const MAIN = new URL("../kills/main.ts", import.meta.url).pathname;

async function killed(
  run: DrawnRun,
  random: SeededRandom,
): Promise<KilledRun> {
  const root = await Deno.makeTempDir({ prefix: "bellman-kills-" });
  try {
    return await killRun(run, random, root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

for (const algorithm of DRAWN_ALGORITHMS) {
  Deno.test(`random runs of ${algorithm} that are killed at random moments are the whole runs`, async () => {
    let kills = 0;
    for (let seed = 0; seed < 2; seed++) {
      const random = new SeededRandom(seed);
      const run = drawRun(random, { algorithm });
      const result = await killed(run, random);
      assertEquals(result.differences, [], JSON.stringify(run));
      kills += result.moments.length;
    }
    // A fast run may end before its moment comes.
    assert(kills >= 1, `${kills} kills`);
  });
}

/** Settings of all given runs. */
const SHARED = {
  checkpointInterval: 300,
  evaluationInterval: 1_500,
  evaluationEpisodes: 2,
  logInterval: 10,
};
const SMALL_SAC = { hiddenSizes: [16, 16], batchSize: 16 };
const LOOP = {
  env: "CartPole-v1",
  loop: "device",
  numSteps: 5,
  numEnvs: 8,
  hiddenSizes: [16],
  totalTimesteps: 12_001,
  checkpointInterval: 1_000,
  evaluationInterval: 3_000,
};

/** Runs of what may not be drawn. */
const RUNS: Readonly<Record<string, DrawnRun["settings"]>> = {
  "a2c, a loop that is one program": { ...LOOP, engine: "onnx" },
  "a2c, a loop that is one program [XLA]": { ...LOOP, engine: "xla" },
  "a2c, a plain network": { env: "CartPole-v1", totalTimesteps: 40_000 },
  "a2c, a recurrent network and scaled observations": {
    env: "CartPole-v1",
    totalTimesteps: 12_000,
    network: "lstm",
    lstmSize: 16,
    normalizeObservation: true,
  },
  "a2c, state-dependent exploration and scaled rewards": {
    env: "Pendulum-v1",
    totalTimesteps: 20_000,
    useSde: true,
    normalizeReward: true,
  },
  "a2c, two optimizers and other copies of the environment, eagerly": {
    env: "MountainCarContinuous-v0",
    totalTimesteps: 6_000,
    backend: "wasm",
    objective: "separate",
    valueNetwork: "separate",
    numEnvs: 3,
  },
  "sac, prioritized transitions that have gone round": {
    ...SMALL_SAC,
    env: "Pendulum-v1",
    totalTimesteps: 2_500,
    bufferSize: 700,
    replay: "proportional",
    nSteps: 3,
    frameStack: 2,
    normalizeObservation: true,
    normalizeReward: true,
  },
  "sac-v1, a mixture and two copies": {
    ...SMALL_SAC,
    env: "Pendulum-v1",
    totalTimesteps: 2_400,
    numEnvs: 2,
    policy: "mixture",
    bufferSize: 2_000,
    trainFrequency: 4,
    gradientSteps: -1,
  },
  "a2c, an Atari game in workers [ALE]": {
    env: "ALE/Breakout-v5",
    totalTimesteps: 2_400,
    numEnvs: 4,
    workers: 2,
    network: "cnn_small",
    evaluationEnvKwargs: { maxNumFramesPerEpisode: 200 },
  },
  "sac, on MuJoCo [MuJoCo]": {
    ...SMALL_SAC,
    env: "Hopper-v5",
    totalTimesteps: 2_000,
    learningStarts: 100,
  },
};

/** Parts that may not be installed, which names of runs end with. */
const INSTALLED: Readonly<Record<string, boolean>> = {
  "[XLA]": isXlaInstalled(),
  "[ALE]": isAtariInstalled(),
  "[MuJoCo]": isMujocoInstalled(),
};

for (const [name, settings] of Object.entries(RUNS)) {
  Deno.test({
    name: `a killed run is the whole run: ${name}`,
    ignore: INSTALLED[name.split(" ").at(-1)!] === false,
    async fn() {
      const algorithm = name.split(",")[0];
      const run = { algorithm, settings: { ...SHARED, ...settings } };
      const { differences, moments } = await killed(run, new SeededRandom(3));
      assertEquals(differences, []);
      assert(moments.length > 0);
    },
  });
}

for (const algorithm of ["a2c", "sac"]) {
  Deno.test({
    name:
      `runs of ${algorithm} with XLA that are killed are the whole runs [XLA]`,
    ignore: !isXlaInstalled(),
    async fn() {
      const random = new SeededRandom(5);
      const run = drawRun(random, { algorithm, engine: "xla" });
      const { differences, moments } = await killed(run, random);
      assertEquals(differences, [], JSON.stringify(run));
      assert(moments.length > 0);
    },
  });
}

Deno.test("runs are drawn of every algorithm", () => {
  const names = ALGORITHMS.map(({ meta }) => meta.name);
  assertEquals(DRAWN_ALGORITHMS.toSorted(), names.toSorted());
});

Deno.test("an environment that forgets its random stream is a difference", async () => {
  const run: DrawnRun = {
    algorithm: "a2c",
    settings: {
      env: "Drift-v0",
      envModules: [new URL("../kills/drift_env.ts", import.meta.url).pathname],
      envKwargs: { forgetful: true },
      hiddenSizes: [8],
      totalTimesteps: 2_000,
      checkpointInterval: 500,
      evaluationInterval: 1_000,
      evaluationEpisodes: 2,
      logInterval: 5,
    },
  };
  const found: string[] = [];
  // A kill before the first checkpoint or after the last one changes nothing.
  for (const seed of [2, 3, 4]) {
    const { differences, moments } = await killed(run, new SeededRandom(seed));
    assert(moments.length > 0);
    found.push(...differences);
  }
  assert(
    found.some((it) => it.startsWith("episodes, line ")),
    found.join("\n"),
  );
});

const REFUSED: [string, string][] = [
  ["--runs=0", "Cannot use --runs '0': expected a whole number of at least 1"],
  ["--seed=x", "Cannot use --seed 'x': expected a whole number of at least 0"],
  [
    "--kills=5",
    "Unknown option '--kills': expected --runs, --seed, --first, --algorithm, --engine",
  ],
  ["--engine=jax", "Cannot use --engine 'jax': expected onnx, xla, eager"],
  ["40", "Cannot use '40': expected options, as in --runs 40"],
];

for (const [argument, message] of REFUSED) {
  Deno.test(`the series of kills refuses ${argument}`, async () => {
    const { code, err } = await runDeno(["-A", MAIN, argument]);
    assertEquals([code, err], [2, `${message}\n`]);
  });
}
