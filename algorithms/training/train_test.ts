import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { DQN } from "@bellman/dqn";
import { makeVec } from "@bellman/envs";
import { type Callback, stop } from "./callbacks.ts";
import { CheckpointStore } from "./checkpoint_store.ts";
import type {
  Batch,
  StateTree,
  SteppingAlgorithm,
  Trainable,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { EpisodeTracker } from "./episodes.ts";
import { evaluationSeeds } from "./evaluate.ts";
import { MemoryLogger } from "./testdata/memory_logger.ts";
import { FixedEnv } from "./testdata/fixed_env.ts";
import { scripted, ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";
import type { TrainOptions } from "./train_options.ts";

Deno.test("the run stops at the first count that reaches the total", async () => {
  for (const [totalTimesteps, step] of [[100, 100], [101, 104], [1, 4]]) {
    const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
      totalTimesteps,
    });
    assertEquals([result.step, result.stopReason], [step, "completed"]);
    assertEquals(result.updates, Math.floor(step / 20));
  }
});

Deno.test("the toy is learned", async () => {
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 8000,
    evaluation: { env: new ToyEnv(4), everyTimesteps: 8000, episodes: 40 },
  });
  assert(result.meanReturn > 9, String(result.meanReturn));
  assert(result.lastEvaluation!.meanReturn > 9);
});

Deno.test("rows have names with groups and come at the first update, at intervals of steps and at the end", async () => {
  const logger = new MemoryLogger();
  let time = 0;
  await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 200,
    logInterval: 50,
    loggers: [logger],
    now: () => time += 10,
  });
  assertEquals(logger.rows.map(({ step }) => step), [20, 60, 100, 160, 200]);
  assertEquals(Object.keys(logger.rows[0].statistics), [
    "time/steps",
    "time/updates",
    "time/episodes",
    "time/seconds",
    "time/steps_per_second",
    "rollout/return_mean",
    "rollout/length_mean",
    "train/value_loss",
    "train/entropy",
    "train/explained_variance",
  ]);
  const { statistics } = logger.rows[1];
  assertEquals([statistics["time/updates"], statistics["time/steps"]], [3, 60]);
  assertEquals(
    statistics["time/steps_per_second"],
    Math.trunc(60 / statistics["time/seconds"]),
  );
  assertEquals(logger.closed, 1);
});

Deno.test("a run of any length has a hundred rows and twenty evaluations where nothing is said", async () => {
  for (const totalTimesteps of [20_000, 8_000, 2_012]) {
    const logger = new MemoryLogger();
    const env = new ToyEnv(4);
    await train(new ToyAlgorithm(4), env, {
      totalTimesteps,
      loggers: [logger],
      evaluation: { env: new ToyEnv(4), episodes: 4 },
    });
    const [evaluations, rows] = [true, false].map((wanted) =>
      logger.rows.filter((it) => "eval/return_mean" in it.statistics === wanted)
    );
    assert(rows.length > 90 && rows.length <= 102, String(rows.length));
    assertEquals(evaluations.length, 20);
    const last = rows.at(-1)!;
    assert(last.step >= totalTimesteps, String(last.step));
    assert(Number.isFinite(last.statistics["rollout/return_mean"]));
    assertEquals("train/value_loss" in last.statistics, true);
  }
});

Deno.test("the end has one row, also where it is early or nothing was learned", async () => {
  const stepsOf = async (options: Partial<TrainOptions>) => {
    const logger = new MemoryLogger();
    await train(new ToyAlgorithm(4), new FixedEnv([3, 8, 9, 9]), {
      totalTimesteps: 100,
      logInterval: 40,
      loggers: [logger],
      ...options,
    });
    return logger.rows.map(({ step, statistics }) =>
      "eval/return_mean" in statistics ? `evaluation ${step}` : step
    );
  };
  // The toy updates at each 20th step.
  assertEquals(await stepsOf({}), [20, 40, 80, 100]);
  assertEquals(await stepsOf({ totalTimesteps: 80 }), [20, 40, 80]);
  assertEquals(await stepsOf({ totalTimesteps: 88 }), [20, 40, 80, 88]);
  assertEquals(await stepsOf({ totalTimesteps: 16 }), [16]);
  const onStep: Callback["onStep"] = ({ step }) =>
    step === 64 ? "stop" : void 0;
  assertEquals(await stepsOf({ callbacks: [{ onStep }] }), [20, 40, 64]);
  const evaluation = {
    env: new FixedEnv([2]),
    everyTimesteps: 48,
    episodes: 1,
  };
  const first: Callback = { onEvaluation: () => "stop" };
  assertEquals(
    await stepsOf({ evaluation, callbacks: [first] }),
    [20, 40, "evaluation 48", 48],
  );
});

/** Copies whose episodes come with numbers of an entry of their info. */
class PricedEnv extends FixedEnv {
  #told = 0;
  readonly #entry: string;
  constructor(lengths: readonly number[], entry = "price") {
    super(lengths);
    this.#entry = entry;
  }
  override step(actions: Batch): VecStep {
    const step = super.step(actions);
    const tracker = [...step.terminated].flatMap((ended, env) =>
      ended ? [env] : []
    );
    const episodes = tracker.map((env) => {
      const sum = ++this.#told;
      const numbers = { sum, mean: sum / 4, last: -sum };
      const { return: total, length } = { return: 1, length: 1 };
      const infoStatistics = { [this.#entry]: numbers };
      return { env, return: total, length, terminated: true, infoStatistics };
    });
    return { ...step, episodes };
  }
}

Deno.test("rows have the means of the infos of the last episodes", async () => {
  const logger = new MemoryLogger();
  await train(scripted(() => ({})), new PricedEnv([2, 100]), {
    totalTimesteps: 20,
    logInterval: 4,
    episodeWindow: 3,
    loggers: [logger],
  });
  const column = (name: string) =>
    logger.rows.map(({ statistics }) => statistics[`rollout/${name}`]);
  // Before the first episode there are none.
  assertEquals(column("price_sum"), [undefined, 1, 1.5, 2, 3, 4]);
  assertEquals(column("price_mean"), [
    undefined,
    ...[1, 1.5, 2, 3, 4].map((it) => it / 4),
  ]);
  assertEquals(column("price_last").at(-1), -4);
  assertEquals(logger.episodes.at(-1)?.infoStatistics?.price.sum, 5);
});

Deno.test("an entry of info takes the place of no other number", async () => {
  for (const entry of ["return", "length"]) {
    await assertRejects(
      () =>
        train(scripted(() => ({})), new PricedEnv([2, 100], entry), {
          totalTimesteps: 20,
          logInterval: 4,
        }),
      TypeError,
      `Cannot record rollout/${entry}_mean: rollout/${entry}_mean is logged already, expected another name`,
    );
  }
});

Deno.test("infos of a smaller window than before are those of the last episodes", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir), logger = new MemoryLogger();
  const run = (options: Partial<TrainOptions>) =>
    train(scripted(() => ({})), new PricedEnv([1, 100, 100, 100]), {
      totalTimesteps: 40,
      checkpoints: { store },
      ...options,
    });
  await run({});
  await run({
    totalTimesteps: 44,
    episodeWindow: 2,
    loggers: [logger],
    resumeFrom: store.load().state,
  });
  // The environment counts anew.
  const { statistics } = logger.rows.at(-1)!;
  assertEquals(statistics["rollout/price_sum"], (10 + 1) / 2);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("callbacks record numbers of their own for the next row", async () => {
  const record = async (
    callback: Callback,
    options: Partial<TrainOptions> = {},
  ) => {
    const logger = new MemoryLogger();
    await train(new ToyAlgorithm(4), new FixedEnv([3, 8, 9, 9]), {
      totalTimesteps: 100,
      logInterval: 40,
      loggers: [logger],
      callbacks: [callback],
      ...options,
    });
    return logger.rows.filter((it) => !("eval/return_mean" in it.statistics));
  };
  const rows = await record({
    onStep(state) {
      state.record("my/step", state.step);
      if (state.step === 44) state.record("once", 7);
    },
    onUpdate: (state) => state.record("my/update", state.updates),
  });
  const column = (name: string) => rows.map((it) => it.statistics[name]);
  assertEquals(column("time/steps"), [20, 40, 80, 100]);
  assertEquals(column("my/step"), [12, 32, 62, 92]);
  assertEquals(column("train/once"), [undefined, undefined, 7, undefined]);
  assertEquals(column("my/update"), [1, 2, 3.5, 5]);
  const last = await record({
    onUpdate: (state) => state.record("my/update", state.updates),
    onEvaluation: (state) => state.record("eval_extra", state.step),
  }, {
    evaluation: { env: new FixedEnv([2]), everyTimesteps: 50, episodes: 1 },
  });
  // The last row waits for what the last evaluation tells.
  assertEquals(last.map(({ step }) => step), [20, 40, 80, 100]);
  assertEquals(last[2].statistics["train/eval_extra"], 52);
  assertEquals(last[3].statistics["train/eval_extra"], 100);
  assertEquals(last[3].statistics["my/update"], 5);
  for (
    const [name, value, wanted] of [
      ["x", NaN, "Cannot record x: it is NaN, expected a finite number"],
      ["x", "7", "Cannot record x: it is 7, expected a finite number"],
      [
        "value_loss",
        1,
        "Cannot record value_loss: train/value_loss is logged already, expected another name",
      ],
    ] as [string, number, string][]
  ) {
    await assertRejects(
      () => record({ onStep: (state) => state.record(name, value) }),
      TypeError,
      wanted,
    );
  }
});

Deno.test("means are over the last episodes, NaN before the first", async () => {
  const logger = new MemoryLogger();
  // Episodes of 3 steps in the first copy, of 8 in the second.
  await train(scripted(() => ({})), new FixedEnv([3, 8, 100, 100]), {
    totalTimesteps: 40,
    logInterval: 1,
    episodeWindow: 2,
    loggers: [logger],
  });
  const means = logger.rows.map(({ statistics }) =>
    statistics["rollout/return_mean"]
  );
  assertEquals(means, [NaN, NaN, 3, 3, 3, 3, 3, 5.5, 5.5, 5.5]);
  assertEquals(
    logger.episodes.map(({ step, env, length }) => [step, env, length]),
    [[12, 0, 3], [24, 0, 3], [32, 1, 8], [36, 0, 3]],
  );
});

Deno.test("callbacks are told of everything, in order", async () => {
  const dir = await Deno.makeTempDir();
  const told: string[] = [];
  const note = (name: string) => (context: { step: number }) =>
    void told.push(`${name} ${context.step}`);
  const callback: Callback = {
    onStart: note("start"),
    onStep: note("step"),
    onEpisode: note("episode"),
    onUpdate: note("update"),
    onEvaluation: note("evaluation"),
    onCheckpoint: async (context, info) => {
      await Promise.resolve();
      told.push(`${info.best ? "best" : "checkpoint"} ${context.step}`);
    },
    onEnd: note("end"),
  };
  await train(new ToyAlgorithm(4), new FixedEnv([4, 9, 9, 9]), {
    totalTimesteps: 24,
    callbacks: [callback],
    evaluation: { env: new FixedEnv([1]), everyTimesteps: 16, episodes: 1 },
    checkpoints: { store: new CheckpointStore(dir), everyTimesteps: 20 },
  });
  assertEquals(told, [
    "start 0",
    "checkpoint 0",
    "step 4",
    "step 8",
    "step 12",
    "episode 16",
    "step 16",
    "evaluation 16",
    "best 16",
    "checkpoint 16",
    "step 20",
    "update 20",
    "checkpoint 20",
    "step 24",
    "evaluation 24",
    "checkpoint 24",
    "end 24",
  ]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("each callback can end the run, with its reason or its name", async () => {
  const hooks = [
    ["onStart", 0],
    ["onStep", 4],
    ["onEpisode", 12],
    ["onUpdate", 20],
    ["onEvaluation", 32],
  ] as const;
  for (const [hook, step] of hooks) {
    for (const answer of ["stop" as const, stop("enough")]) {
      const result = await train(
        new ToyAlgorithm(4),
        new FixedEnv([3, 9, 9, 9]),
        {
          totalTimesteps: 1000,
          callbacks: [{ name: "mine", [hook]: () => answer }],
          evaluation: { env: new FixedEnv([1]), everyTimesteps: 32 },
        },
      );
      assertEquals(result.step, step, hook);
      assertEquals(result.stopReason, answer === "stop" ? "mine" : "enough");
    }
  }
});

Deno.test("the best evaluation's model is kept", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const algorithm = new ToyAlgorithm(4);
  let evaluations = 0;
  // The second evaluation is the best: its episode is the longest.
  const lengths = [3, 7, 5, 7];
  const env = new FixedEnv([1]);
  const reset = env.reset.bind(env);
  let current = new FixedEnv([1]);
  env.reset = (options) => {
    current = new FixedEnv([lengths[evaluations++]]);
    return reset(options);
  };
  env.step = (actions) => current.step(actions);
  const result = await train(algorithm, new ToyEnv(4), {
    totalTimesteps: 400,
    evaluation: {
      env,
      everyTimesteps: 100,
      episodes: 1,
    },
    checkpoints: { store },
  });
  assertEquals(evaluations, 4);
  assertEquals(env.seeds, Array(4).fill(evaluationSeeds(0).during));
  assertEquals(result.bestEvaluation?.meanReturn, 7);
  assertEquals(result.lastEvaluation?.meanReturn, 7);
  assertEquals(store.load("best").step, 200);
  assertEquals(store.list().checkpoints.map(({ step }) => step), [0, 400]);
  await Deno.remove(dir, { recursive: true });
});

/** Evaluations that return the given numbers, one after the other; later ones the last. */
function scriptedEvaluations(returns: readonly number[]): FixedEnv {
  let evaluations = 0;
  let current = new FixedEnv([1]);
  const env = new FixedEnv([1]);
  env.reset = () => {
    const length = returns[Math.min(evaluations++, returns.length - 1)];
    current = new FixedEnv([length]);
    return current.reset();
  };
  env.step = (actions) => current.step(actions);
  return env;
}

Deno.test("the policy of the end is evaluated, and kept where it is the best", async () => {
  const ends: [string, Callback, number][] = [
    ["completed", {}, 252],
    ["mine", { onStep: ({ step }) => step === 228 ? "stop" : undefined }, 228],
    ["mine", {
      onCheckpoint: ({ step }) => step === 160 ? "stop" : undefined,
    }, 160],
  ];
  for (const [stopReason, hooks, end] of ends) {
    for (const [last, best] of [[9, end], [5, 100]]) {
      const dir = await Deno.makeTempDir();
      const store = new CheckpointStore(dir);
      const evaluated: number[] = [];
      const logger = new MemoryLogger();
      const options: TrainOptions = {
        totalTimesteps: 250,
        logInterval: 1000,
        loggers: [logger],
        callbacks: [{ name: "mine", ...hooks }, {
          onEvaluation: ({ step }) => void evaluated.push(step),
        }],
        checkpoints: { store, everyTimesteps: 80 },
      };
      const evaluation = { everyTimesteps: 100, episodes: 1 };
      // The evaluation at 100 returns 7, that at 200, where there is one, 6.
      const returns = end === 160 ? [7, last] : [7, 6, last];
      const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
        ...options,
        evaluation: { ...evaluation, env: scriptedEvaluations(returns) },
      });
      const wanted = end === 160 ? [100, end] : [100, 200, end];
      assertEquals([result.stopReason, result.step], [stopReason, end]);
      assertEquals(evaluated, wanted);
      assertEquals(result.lastEvaluation?.meanReturn, last);
      assertEquals(store.load("best").step, best);
      // The checkpoint knows of it: resumed, nothing is evaluated or logged again.
      await train(new ToyAlgorithm(4), new ToyEnv(4), {
        ...options,
        totalTimesteps: end,
        resumeFrom: store.load().state,
        evaluation: { ...evaluation, env: scriptedEvaluations([99]) },
      });
      assertEquals(evaluated, wanted);
      assertEquals(
        logger.rows.filter(({ statistics }) => "eval/return_mean" in statistics)
          .map(({ step }) => step),
        wanted,
      );
      await Deno.remove(dir, { recursive: true });
    }
  }
});

Deno.test("an interrupted run is not evaluated at its end, its resume is", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const controller = new AbortController();
  const evaluated: number[] = [];
  const options: TrainOptions = {
    totalTimesteps: 250,
    callbacks: [{
      onEvaluation: ({ step }) => void evaluated.push(step),
      onStep: ({ step }) => step === 252 ? controller.abort() : undefined,
    }],
    checkpoints: { store },
    evaluation: { env: new ToyEnv(1), everyTimesteps: 100, episodes: 1 },
  };
  const interrupted = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    ...options,
    signal: controller.signal,
  });
  assertEquals(interrupted.stopReason, "interrupted");
  assertEquals(evaluated, [100, 200]);
  // The second resume finds the evaluation of the first in its checkpoint.
  for (const _resume of [1, 2]) {
    const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
      ...options,
      resumeFrom: store.load().state,
    });
    assertEquals(result.stopReason, "completed");
    assertEquals(evaluated, [100, 200, 252]);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a run without an end is evaluated where nothing is said", async () => {
  const evaluated: number[] = [];
  const result = await train(scripted(() => ({})), new FixedEnv([9]), {
    totalTimesteps: Infinity,
    evaluation: { env: new FixedEnv([1]), episodes: 1 },
    callbacks: [{
      onEvaluation: ({ step }) => void evaluated.push(step),
      onStep: ({ step }) => step === 110_000 ? "stop" : undefined,
    }],
  });
  assertEquals(result.step, 110_000);
  assertEquals(evaluated, [50_000, 100_000, 110_000]);
});

Deno.test("without an interval nothing is evaluated, at the end neither", async () => {
  const env = new FixedEnv([1]);
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 100,
    evaluation: { env, everyTimesteps: Infinity },
  });
  assertEquals([result.lastEvaluation, env.seeds.length], [undefined, 0]);
});

Deno.test("evaluation does not change what is learned", async () => {
  const plain = new ToyAlgorithm(4);
  await train(plain, new ToyEnv(4), { totalTimesteps: 2000, seed: 1 });
  const evaluated = new ToyAlgorithm(4);
  await train(evaluated, new ToyEnv(4), {
    totalTimesteps: 2000,
    seed: 1,
    evaluation: {
      env: new ToyEnv(2),
      everyTimesteps: 300,
      deterministic: false,
    },
  });
  assertEquals(evaluated.save(), plain.save());
});

Deno.test("an abort writes a checkpoint and ends the run", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const controller = new AbortController();
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 4000,
    signal: controller.signal,
    callbacks: [{
      onStep: ({ step }) => {
        if (step === 64) controller.abort();
      },
    }],
    checkpoints: { store },
  });
  assertEquals([result.stopReason, result.step], ["interrupted", 64]);
  assertEquals(store.load("latest").step, 64);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("the end of a run is logged, unless it may go on", async () => {
  const endsOf = async (options: Partial<TrainOptions>) => {
    const logger = new MemoryLogger();
    await train(new ToyAlgorithm(4), new ToyEnv(4), {
      totalTimesteps: 20,
      loggers: [logger],
      ...options,
    });
    return logger.ends;
  };
  assertEquals(await endsOf({}), ["success"]);
  assertEquals(await endsOf({ signal: AbortSignal.abort() }), []);
});

Deno.test("settings are logged when a run begins, not when it is resumed", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const loggers = [new MemoryLogger(), new MemoryLogger()];
  const hyperparameters = { seed: 3, name: "toy" };
  for (const [i, totalTimesteps] of [40, 80].entries()) {
    await train(new ToyAlgorithm(4), new ToyEnv(4), {
      totalTimesteps,
      hyperparameters,
      loggers: [loggers[i]],
      checkpoints: { store },
      resumeFrom: i === 0 ? undefined : store.load().state,
    });
  }
  assertEquals(loggers.map((it) => it.settings), [[hyperparameters], []]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("signals and timers get their turn while the loop runs", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 1);
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 1e12,
    signal: controller.signal,
  });
  assertEquals(result.stopReason, "interrupted");
});

Deno.test("an abort during an evaluation leaves the evaluation due", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const controller = new AbortController();
  const evaluated: number[] = [];
  const options = {
    totalTimesteps: 200,
    callbacks: [{
      onEvaluation: ({ step }: { step: number }) => void evaluated.push(step),
    }],
    checkpoints: { store },
  };
  const env = new ToyEnv(1);
  const interrupting = new ToyEnv(1);
  interrupting.reset = (resetting) => {
    controller.abort();
    return env.reset(resetting);
  };
  const evaluation = { everyTimesteps: 100, episodes: 2 };
  const result = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    ...options,
    signal: controller.signal,
    evaluation: { ...evaluation, env: interrupting },
  });
  assertEquals([result.stopReason, result.step], ["interrupted", 100]);
  assertEquals(evaluated, []);
  await train(new ToyAlgorithm(4), new ToyEnv(4), {
    ...options,
    resumeFrom: store.load().state,
    evaluation: { ...evaluation, env },
  });
  assertEquals(evaluated, [100, 200]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("algorithms may answer with promises", async () => {
  const direct = new ToyAlgorithm(4);
  await train(direct, new ToyEnv(4), { totalTimesteps: 400, seed: 1 });
  const inner = new ToyAlgorithm(4);
  const later = {
    act: (batch: Float32Array) => Promise.resolve(inner.act(batch)),
    observe: inner.observe.bind(inner),
    update: () => Promise.resolve(inner.update()),
    save: () => inner.save(),
    load: () => {},
    policy: () => inner.policy(),
  };
  await train(later as unknown as ToyAlgorithm, new ToyEnv(4), {
    totalTimesteps: 400,
    seed: 1,
  });
  assertEquals(inner.save(), direct.save());
});

Deno.test("numbers that cannot be are refused", async () => {
  for (const totalTimesteps of [0, -1, 1.5, NaN]) {
    await assertRejects(
      () => train(new ToyAlgorithm(4), new ToyEnv(4), { totalTimesteps }),
      RangeError,
      `Cannot train with totalTimesteps ${totalTimesteps}`,
    );
  }
  await assertRejects(
    () =>
      train(new ToyAlgorithm(4), new ToyEnv(4), {
        totalTimesteps: 10,
        evaluation: { env: new ToyEnv(1), everyTimesteps: 0 },
      }),
    RangeError,
    "evaluation.everyTimesteps 0",
  );
});

/** The toy, as an algorithm that takes five steps in an environment of its own. */
function steppingToy(): SteppingAlgorithm {
  const toy = new ToyAlgorithm(4), env = new ToyEnv(4);
  let observations = env.reset({ seed: 3 });
  const tracker = new EpisodeTracker(4);
  return {
    advance() {
      const episodes = [];
      for (let i = 0; i < 5; i++) {
        const step = env.step(toy.act(observations) as Int32Array);
        toy.observe(step);
        observations = step.observations;
        episodes.push(...tracker.observe(step));
      }
      return { steps: 20, episodes };
    },
    update: () => toy.update(),
    policy: (options) => toy.policy(options),
    save: () => ({ toy: toy.save(), env: env.save(), sums: tracker.save() }),
    load(state) {
      const saved = state as Record<string, StateTree>;
      toy.load(saved.toy);
      env.load(saved.env);
      tracker.load(saved.sums);
      observations = env.observations();
    },
  };
}

Deno.test("an algorithm that steps its own environments is given none", async () => {
  const dir = await Deno.makeTempDir();
  const other = await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 400,
    seed: 3,
  });
  const steps: number[] = [], rows: number[] = [];
  const onStep: Callback["onStep"] = ({ step, env }, { rewards }) => {
    assertEquals(env, undefined);
    steps.push(step);
    rows.push(rewards.length);
  };
  const options = (store: CheckpointStore): TrainOptions => ({
    totalTimesteps: 400,
    callbacks: [{ onStep }],
    checkpoints: { store, everyTimesteps: 20, keepLast: 1000 },
  });
  const store = new CheckpointStore(`${dir}/whole`);
  const whole = await train(steppingToy(), undefined, options(store));
  const { elapsedSeconds: _, ...found } = whole;
  const { elapsedSeconds: __, ...wanted } = other;
  assertEquals(found, wanted);
  assertEquals(steps, Array.from({ length: 20 }, (_, i) => 20 * i + 20));
  assertEquals(rows, Array(20).fill(0));
  const resumed = new CheckpointStore(`${dir}/resumed`);
  await train(steppingToy(), undefined, {
    ...options(resumed),
    resumeFrom: store.load(140).state,
  });
  const { algorithm, env } = store.load(400).state as Record<string, StateTree>;
  const end = resumed.load(400).state as Record<string, StateTree>;
  assertEquals([end.algorithm, env, end.env], [algorithm, null, null]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("training acts by the masks of the environment", async () => {
  const env = makeVec("Identity-v0", { numEnvs: 3, kwargs: { masked: true } });
  const algorithm: Trainable = new ToyAlgorithm(3);
  const seen: Uint8Array[] = [];
  algorithm.act = (observations, masks) => {
    seen.push(masks!.slice());
    assertEquals(masks, env.actionMasks);
    return (observations as Int32Array).slice();
  };
  algorithm.update = () => undefined;
  await train(algorithm, env, { totalTimesteps: 30, seed: 1 });
  assertEquals(seen.length, 10);
  assertEquals(new Set(seen.map(String)).size > 1, true);
});

Deno.test("a run that learned for less than a hundredth of its steps tells so, and others do not", async () => {
  const warnedOf = async (learningStarts: number, totalTimesteps: number) => {
    const lines: string[] = [];
    const algorithm = new ToyAlgorithm(4), update = algorithm.update;
    let steps = 0;
    algorithm.update = () => {
      steps += 4;
      return steps > learningStarts ? update.call(algorithm) : undefined;
    };
    await train(algorithm, new ToyEnv(4), {
      totalTimesteps,
      onWarning: (line) => lines.push(line),
    });
    return lines;
  };
  // The toy updates at each 20th step.
  assertEquals(await warnedOf(0, 2000), []);
  assertEquals(await warnedOf(0, 20), []);
  assertEquals(await warnedOf(3900, 4000), []);
  const [late] = await warnedOf(7960, 8000);
  assertStringIncludes(late, "8,000 steps brought 2 updates; expected more");
  const [none] = await warnedOf(0, 16);
  assertStringIncludes(none, "16 steps brought 0 updates");
});

Deno.test("an algorithm is told of each reset, and of the end", async () => {
  const told: string[] = [];
  const env = new ToyEnv(4), reset = env.reset.bind(env);
  env.reset = (options) => (told.push("reset"), reset(options));
  const algorithm = Object.assign(new ToyAlgorithm(4), {
    endEpisodes: () => void told.push("told"),
  });
  await train(algorithm, env, { totalTimesteps: 4 });
  await train(algorithm, env, { totalTimesteps: 4 });
  const call = ["told", "reset", "told"];
  assertEquals(told, [...call, ...call]);
});

Deno.test("evaluations do not reset the environment of training", async () => {
  class Around extends ToyEnv {
    constructor(readonly env: VecEnv) {
      super(env.numEnvs);
    }
  }
  const inside = new ToyEnv(4), around = new Around(inside);
  for (
    const [env, other] of [[inside, inside], [around, inside], [inside, around]]
  ) {
    const error = await assertRejects(() =>
      train(new ToyAlgorithm(4), env, {
        totalTimesteps: 4,
        evaluation: { env: other },
      }), TypeError);
    assertStringIncludes(
      error.message,
      "Cannot evaluate in the environment of training",
    );
  }
});

Deno.test("training says how long it is", async () => {
  for (const options of [{}, undefined]) {
    const error = await assertRejects(
      () => train(new ToyAlgorithm(4), new ToyEnv(4), options as TrainOptions),
      RangeError,
    );
    assertStringIncludes(
      error.message,
      "Cannot train without totalTimesteps: expected a whole",
    );
  }
});

Deno.test("a function of the caller's receives the progress", async () => {
  const steps: number[] = [];
  let time = 0;
  await train(new ToyAlgorithm(4), new ToyEnv(4), {
    totalTimesteps: 40,
    onProgress: ({ step, totalTimesteps }) => {
      assertEquals(totalTimesteps, 40);
      steps.push(step);
    },
    now: () => time += 30,
  });
  assertEquals(steps[0], 0);
  assertEquals(steps.at(-1), 40);
  assert(steps.length > 3, steps.join());
});

Deno.test("an agent gets ready before the first step, also on a resume", async () => {
  const agent = new ToyAlgorithm(4), calls: string[] = [];
  const ready = () => Promise.resolve(void calls.push("ready"));
  const watched: Trainable = Object.assign(agent, { ready });
  const onStart = () => void calls.push("start");
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  for (const totalTimesteps of [20, 40]) {
    const [newest] = store.list().checkpoints;
    await train(watched, new ToyEnv(4), {
      totalTimesteps,
      callbacks: [{ onStart }],
      checkpoints: { store },
      resumeFrom: newest && store.load("latest").state,
    });
  }
  assertEquals(calls, ["ready", "start", "ready", "start"]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a round of several updates counts as many", async () => {
  const env = makeVec("CartPole-v1", { numEnvs: 2 });
  const config = {
    ...{ hiddenSizes: [8], batchSize: 8, bufferSize: 100 },
    ...{ learningStarts: 20, gradientSteps: 4, trainFrequency: 2 },
  };
  const agent = new DQN(env, { config, totalTimesteps: 200 });
  const { updates } = await train(agent, env, { totalTimesteps: 200 });
  assertEquals(updates, agent.updates);
  assert(updates > 100);
  agent.close();
});
