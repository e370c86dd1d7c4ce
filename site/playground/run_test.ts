import { loadStateSync } from "@bellman/files";
import { envSpec } from "@bellman/envs";
import { trainInWorker, type WorkerTraining } from "@bellman/training/worker";
import { assert, assertEquals } from "@std/assert";
import { runCommand, stateOf } from "../../tests/runs.ts";
import type { RunCalls } from "./run.ts";
import { resolveTask, type Wanted } from "./settings.ts";
import { ALGORITHMS, MAIN_SETTINGS, TASKS } from "./tasks.ts";
import { assertLearns } from "./testdata/with_run.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-training-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

/** Compares files without the difference that long ones would print. */
function assertBytes(actual: Uint8Array, expected: Uint8Array): void {
  assertEquals(actual.length, expected.length);
  assertEquals(actual.findIndex((it, i) => it !== expected[i]), -1);
}

/** Trains in the page's worker, and closes it after use. */
async function withRun(
  { totalTimesteps, onStep, ...settings }: {
    totalTimesteps: number;
    onStep?: (step: number) => void;
  } & Wanted,
  use: (training: WorkerTraining<RunCalls>) => Promise<void>,
): Promise<void> {
  const url = new URL("./trainer.ts", import.meta.url);
  const training = trainInWorker<RunCalls>(url, {
    totalTimesteps,
    settings,
    progressIntervalMs: 0,
    onProgress: ({ step }) => onStep?.(step),
  });
  try {
    await use(training);
  } finally {
    training.close();
  }
}

/** Short runs of both kinds of algorithm, and further settings. */
const RUNS = {
  a2c: ["Acrobot-v1", { seed: 3 }, 1500, {}],
  sac: ["Pendulum-v1", { seed: 4 }, 100, {
    learningStarts: 40,
    batchSize: 8,
    bufferSize: 1000,
    hiddenSizes: [8],
    numEnvs: 1,
  }],
} as const;

for (
  const [algorithm, [env, settings, totalTimesteps, own]] of Object.entries(
    RUNS,
  )
) {
  const wanted = {
    ...{ env, algorithm, settings, totalTimesteps },
    further: JSON.stringify(own),
  };
  const whole = async () => {
    let files!: { policy: Uint8Array; checkpoint: Uint8Array };
    await withRun(wanted, async (training) => {
      await training.result;
      const { bytes } = await training.checkpoint();
      files = { policy: await training.policy(), checkpoint: bytes };
    });
    return files;
  };

  Deno.test(`pauses and being watched change nothing: ${algorithm}`, async () => {
    const expected = await whole();
    const half = Promise.withResolvers<void>();
    const onStep = (step: number) => {
      if (step > totalTimesteps / 2) half.resolve();
    };
    await withRun({ ...wanted, onStep }, async (training) => {
      await half.promise;
      const { width, height, data } = await training.call("watch", 0.2);
      assertEquals(data.length, 3 * width * height);
      await training.pause();
      assert((await training.checkpoint()).step < totalTimesteps);
      await training.call("watch", 0.2);
      await training.resume();
      await training.result;
      assertBytes(await training.policy(), expected.policy);
      const { bytes } = await training.checkpoint();
      assertBytes(bytes, expected.checkpoint);
    });
  });

  Deno.test(`policy and state are those of the command line: ${algorithm}`, async () => {
    const { policy, checkpoint } = await whole();
    const run = `${dir}/${algorithm}`;
    const preset = { ...TASKS[env].presets[algorithm], ...own };
    const { totalTimesteps: _, ...others } = preset as Record<string, unknown>;
    const trained = await runCommand([
      ...["train", algorithm, `--env=${env}`, `--seed=${settings.seed}`],
      ...["--preset=none", `--steps=${totalTimesteps}`, `--out=${run}`],
      ...["--quiet", "--backend=wasm"],
      ...Object.entries(others).map(([key, it]) =>
        `--set=${key}=${JSON.stringify(it)}`
      ),
    ]);
    assertEquals(trained.code, 0, trained.err);
    const out = `${dir}/${algorithm}.onnx`;
    const exported = await runCommand(["export", run, `--out=${out}`]);
    assertEquals(exported.code, 0, exported.err);
    assertBytes(policy, await Deno.readFile(out));

    const file = `${dir}/${algorithm}.safetensors`;
    await Deno.writeFile(file, checkpoint);
    type State = Record<string, Record<string, unknown>>;
    const mine = loadStateSync(file).state as State;
    const theirs = stateOf(run, "latest") as State;
    assertEquals(mine.algorithm, theirs.algorithm);
    assertEquals(mine.env, theirs.env);
  });
}

for (const [env, { goal, presets }] of Object.entries(TASKS)) {
  Deno.test(`the goal of ${env} is its reward threshold, and its settings are valid`, () => {
    const { rewardThreshold = -200 } = envSpec(env);
    assertEquals(goal, rewardThreshold);
    assert(Object.keys(presets).length > 0);
    for (const [algorithm, preset] of Object.entries(presets)) {
      assert(algorithm in ALGORITHMS, algorithm);
      const { settings } = resolveTask({ env, algorithm });
      for (const key of MAIN_SETTINGS) assertEquals(settings[key], preset[key]);
    }
  });
}

Deno.test("CartPole is learned by A2C on 5 of 5 seeds", async () => {
  for (let seed = 0; seed < 5; seed++) {
    const settings = { seed };
    await assertLearns({ env: "CartPole-v1", algorithm: "a2c", settings });
  }
});

Deno.test("a run ends at its goal, and goes on beyond it", async () => {
  const run = { env: "CartPole-v1", algorithm: "ppo", totalTimesteps: 20_000 };
  await withRun(run, async (training) => {
    const { step, stopReason, lastEvaluation } = await training.result;
    assert(step < 20_000, `${step}`);
    assert(/reached 475/.test(stopReason), stopReason);
    assert(lastEvaluation!.meanReturn >= 475);
    const { step: end } = await training.trainOn(step + 2048);
    assertEquals(end, step + 2048);
  });
});
