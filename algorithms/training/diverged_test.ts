import { assertEquals, assertRejects } from "@std/assert";
import type { VecStep } from "@bellman/types";
import { CheckpointStore } from "./checkpoint_store.ts";
import { TrainingDivergedError } from "./diverged.ts";
import { evaluate } from "./evaluate.ts";
import { scripted, ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";
import { MemoryLogger } from "./testdata/memory_logger.ts";
import { divergedArray } from "./training_state.ts";

/** Walks of which a step returns what is not finite. */
class WrongToyEnv extends ToyEnv {
  #at: number;
  #parts: Partial<VecStep>;
  #steps = 0;

  constructor(at: number, parts: Partial<VecStep>) {
    super(2);
    this.#at = at;
    this.#parts = parts;
  }

  override reset(options?: { seed?: number }): Float32Array {
    const first = super.reset(options) as Float32Array;
    return this.#at === 0 ? this.#parts.observations as Float32Array : first;
  }

  override step(actions: Int32Array): VecStep {
    const step = super.step(actions);
    return ++this.#steps === this.#at ? { ...step, ...this.#parts } : step;
  }
}

const NOT_FINITE: [at: number, parts: Partial<VecStep>, says: string][] = [
  [0, { observations: Float32Array.of(0, NaN) }, "copy 1 at step 0"],
  [7, { observations: Float32Array.of(0, NaN) }, "copy 1 at step 14"],
  [7, { rewards: Float64Array.of(NaN, 0) }, "the reward of copy 0 at step 14"],
];

for (const [at, parts, says] of NOT_FINITE) {
  const [part] = Object.keys(parts);
  Deno.test(`${part} that are not finite in step ${at} reach no algorithm and no checkpoint`, async () => {
    const dir = await Deno.makeTempDir();
    const store = new CheckpointStore(dir);
    const algorithm = new ToyAlgorithm(2);
    const observed: number[] = [];
    const observe = algorithm.observe.bind(algorithm);
    algorithm.observe = (step) => {
      observe(step);
      observed.push(...step.rewards, ...step.observations as Float32Array);
    };
    await assertRejects(
      () =>
        train(algorithm, new WrongToyEnv(at, parts), {
          totalTimesteps: 40,
          checkpoints: { store, everyTimesteps: 2 },
        }),
      RangeError,
      says,
    );
    assertEquals(observed.every(Number.isFinite), true);
    const steps = store.list().checkpoints.map(({ step }) => step);
    assertEquals(steps, at === 0 ? [] : [8, 10, 12]);
    await Deno.remove(dir, { recursive: true });
  });

  Deno.test(`an evaluation with ${part} that are not finite in step ${at} has no result`, async () => {
    const actor = { act: () => new Int32Array(2) };
    await assertRejects(
      () => evaluate(actor, new WrongToyEnv(at, parts)),
      RangeError,
      says,
    );
  });
}

Deno.test("a loss that is not finite stops the run and keeps the last good checkpoint", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const logger = new MemoryLogger();
  for (const value of [NaN, Infinity, -Infinity]) {
    const algorithm = scripted((update) => ({
      value_loss: update === 5 ? value : 1,
      explained_variance: NaN,
    }));
    const error = await assertRejects(
      () =>
        train(algorithm, new ToyEnv(4), {
          totalTimesteps: 400,
          loggers: [logger],
          checkpoints: { store, everyTimesteps: 12 },
        }),
      TrainingDivergedError,
    );
    assertEquals(
      error.message,
      `value_loss became ${value} at step 20 (update 5); the last good checkpoint is ${dir}/step_000000012.safetensors`,
    );
    assertEquals(store.list().checkpoints.map(({ step }) => step), [0, 12]);
    const { statistic, step, updates } = error as TrainingDivergedError;
    assertEquals([statistic, step, updates], ["value_loss", 20, 5]);
  }
  assertEquals(logger.rows.at(-1)!.statistics["train/value_loss"], -Infinity);
  assertEquals(logger.ends, ["failure", "failure", "failure"]);
  assertEquals(logger.closed, 3);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("no checkpoint is written of parameters that are not finite", async () => {
  const dir = await Deno.makeTempDir();
  const algorithm = new ToyAlgorithm(4);
  await assertRejects(
    () =>
      train(algorithm, new ToyEnv(4), {
        totalTimesteps: 400,
        checkpoints: { store: new CheckpointStore(dir), everyTimesteps: 12 },
        callbacks: [{
          onStep: ({ step }) => {
            if (step === 16) algorithm.params[7] = NaN;
          },
        }],
      }),
    TrainingDivergedError,
    `params/table/data became NaN at step 24 (update 1); the last good checkpoint is ${dir}/step_000000012.safetensors`,
  );
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a run that diverges takes its bar away", async () => {
  let cleared = 0;
  const progress = {
    update: () => {},
    clear: () => void cleared++,
    finish: () => {
      throw new Error("Cannot finish a run that diverged");
    },
  };
  await assertRejects(
    () =>
      train(scripted(() => ({ policy_loss: NaN })), new ToyEnv(4), {
        totalTimesteps: 40,
        progress,
      }),
    TrainingDivergedError,
  );
  assertEquals(cleared, 1);
});

Deno.test("every array of a checkpoint is looked at, and what may be infinite is known", () => {
  const whole = {
    loop: {
      window: { returns: Float64Array.of(1, 2) },
      nextEvaluation: Infinity,
    },
    algorithm: {
      params: { kernel: Float32Array.of(1) },
      optimizer: { first: { kernel: Float32Array.of(0.5) } },
      replay: { reward: Float32Array.of(1, 2, 3), actions: Int32Array.of(1) },
      best: -Infinity,
    },
    env: {
      own: { mean: Float64Array.of(0), limits: Float64Array.of(-Infinity) },
      env: { observations: Float32Array.of(1) },
      envs: [{ times: Float64Array.of(NaN, Infinity) }],
    },
    callbacks: { best: -Infinity, history: Float64Array.of(NaN) },
    extra: Float64Array.of(NaN),
  };
  assertEquals(divergedArray(whole), undefined);
  const wrong: [
    array: Float32Array | Float64Array,
    path: string,
    values: number[],
  ][] = [
    [whole.loop.window.returns, "loop/window/returns", [NaN, -Infinity]],
    [whole.algorithm.params.kernel, "params/kernel", [NaN, Infinity]],
    [
      whole.algorithm.optimizer.first.kernel,
      "optimizer/first/kernel",
      [NaN, -Infinity],
    ],
    [whole.algorithm.replay.reward, "replay/reward", [NaN, Infinity]],
    [whole.env.own.mean, "env/own/mean", [NaN]],
    [whole.env.env.observations, "env/env/observations", [NaN]],
  ];
  for (const [array, statistic, values] of wrong) {
    const at = array.length - 1, before = array[at];
    for (const value of values) {
      array[at] = value;
      assertEquals(divergedArray(whole), { statistic, value });
    }
    array[at] = before;
  }
});
