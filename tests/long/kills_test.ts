/** A short series of kills, and that it finds what is not right. */
import { ALGORITHMS } from "@bellman/cli";
import { isXlaInstalled } from "@bellman/compute/xla";
import { SeededRandom } from "@bellman/envs";
import { assert, assertEquals } from "@std/assert";
import { DRAWN_ALGORITHMS, type DrawnRun, drawRun } from "../kills/draw_run.ts";
import { type KilledRun, killRun } from "../kills/kill_run.ts";

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
    assert(kills >= 2, `${kills} kills`);
  });
}

for (const engine of ["onnx", "xla"]) {
  Deno.test({
    name: `a killed run whose loop is one program is the whole run ${
      engine === "xla" ? "[XLA]" : `(${engine})`
    }`,
    ignore: engine === "xla" && !isXlaInstalled(),
    async fn() {
      const run: DrawnRun = {
        algorithm: "a2c",
        settings: {
          env: "CartPole-v1",
          loop: "device",
          engine,
          numSteps: 5,
          numEnvs: 8,
          hiddenSizes: [16],
          totalTimesteps: 12_001,
          checkpointInterval: 1_000,
          evaluationInterval: 3_000,
          evaluationEpisodes: 2,
          logInterval: 10,
        },
      };
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
  const names = ALGORITHMS.map(({ name }) => name);
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
    "Unknown option '--kills': expected --runs, --seed, --first or --engine",
  ],
  ["--engine=jax", "Cannot use --engine 'jax': expected onnx, xla, eager"],
  ["40", "Cannot use '40': expected options, as in --runs 40"],
];

for (const [argument, message] of REFUSED) {
  Deno.test(`the series of kills refuses ${argument}`, async () => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", "--no-check", MAIN, argument],
      env: { NO_COLOR: "1" },
    }).output();
    assertEquals([code, new TextDecoder().decode(stderr)], [2, `${message}\n`]);
  });
}
