import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Agent, defaultsOf } from "@bellman/agent";
import { RandomStream, ravel, selectBackend } from "@bellman/compute";
import { deriveSeed, makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { AsyncTraining, type AsyncTrainingOptions } from "./async_training.ts";
import type { AsyncConfig } from "./config.ts";
import { asyncMethods } from "./methods.ts";
import { SharedParameters } from "./parameter_server.ts";

await selectBackend("cpu");

const SMALL: Partial<AsyncConfig> = {
  hiddenSizes: [8],
  learningRate: 0.01,
  rmspropEpsilon: 0.1,
  stepsPerStop: 50,
};
const FIXED = { workerOrder: "fixed" } as const;
const MASKED = import.meta.resolve("./testdata/masked_env.ts");
const FRAGILE = import.meta.resolve("./testdata/fragile_env.ts");
const spaces = makeVec("CartPole-v1", { numEnvs: 1 });

function start(
  name: string,
  options: Partial<AsyncTrainingOptions> = {},
): Promise<AsyncTraining> {
  return AsyncTraining.start(name, {
    source: "CartPole-v1",
    spaces,
    workers: 2,
    seed: 4,
    totalTimesteps: 1000,
    ...options,
    config: { ...SMALL, ...options.config },
  });
}

/** State after some stops. */
function stop(training: AsyncTraining, stops: number): StateTree {
  for (let i = 0; i < stops; i++) training.advance(50);
  return training.save();
}

for (const name of ["async-sarsa", "a3c"]) {
  Deno.test(`${name} with workers in a fixed order is repeated and resumed bit for bit`, async () => {
    const options = { workers: 2, config: FIXED };
    const [one, other] = await Promise.all(
      [0, 1].map((seed) => start(name, { ...options, seed })),
    );
    const middle = stop(one, 3), end = stop(one, 4);
    one.load(middle);
    assertEquals(stop(one, 4), end);
    // It has gone further, from another seed, and goes back.
    stop(other, 5);
    other.load(middle);
    assertEquals(stop(other, 4), end);
    assertEquals([one.steps, other.steps], [350, 350]);
    one.close();
    other.close();
  });
}

for (
  const { meta: { name, schema }, with: define, statisticNames: names }
    of asyncMethods
) {
  Deno.test(`${name} with one worker is an agent in a loop, bit for bit`, async () => {
    const training = await start(name, { workers: 1, config: FIXED });
    for (let i = 0; i < 4; i++) training.advance(50);
    const { shared: found } = training.save() as Record<string, StateTree>;
    training.close();

    const config = { ...defaultsOf<AsyncConfig>(schema), ...SMALL };
    const { model } = new Agent(define(), spaces, { config });
    const params = model.init(new RandomStream(4).split("init"));
    const shared = SharedParameters.from(
      ravel(params).dataSync() as Float32Array,
      { ...config, workers: 1 },
    );
    shared.start(0);
    const seed = deriveSeed(deriveSeed(4, 0), 0);
    const env = makeVec("CartPole-v1", { numEnvs: 1 });
    const server = shared.connect(0);
    const agent = new Agent(define(() => server), env, {
      config,
      seed,
      totalTimesteps: 1000,
    });
    let observations = env.reset({ seed: deriveSeed(seed, 0) });
    for (let step = 0; step < 200; step++) {
      const result = env.step(agent.act(observations));
      agent.observe(result);
      const statistics = agent.update();
      if (statistics) server.report(names.map((it) => statistics[it]));
      observations = result.observations;
    }
    assertEquals(found, shared.save());
    agent.close();
  });
}

for (const { meta: { name } } of asyncMethods) {
  Deno.test(`${name} with workers acts and learns by masks`, async () => {
    const actionSpace = { type: "discrete", n: 4 };
    const kwargs = { masked: true, actionSpace };
    const env = makeVec("Identity-v0", { numEnvs: 1, kwargs });
    const notices: string[] = [];
    const training = await start(name, {
      source: { module: MASKED, options: { kwargs } },
      spaces: env,
      workers: 1,
      config: FIXED,
      onNotice: (line) => notices.push(line),
    });
    for (let i = 0; i < 10; i++) training.advance(50);
    // A forbidden action would have failed a worker.
    assertEquals([training.steps, notices], [500, []]);
    const { minReturn } = await evaluate(training.policy(), env, {
      episodes: 2,
      seed: 1,
    });
    assert(minReturn > 0);
    training.close();
  });
}

Deno.test("free workers stop at the exact step, and resume from there", async () => {
  const training = await start("async-nstep-q");
  const result = await train(training, undefined, { totalTimesteps: 500 });
  assertEquals([result.step, training.steps], [500, 500]);
  assert(result.episodes > 5);
  const state = training.save();
  const other = await start("async-nstep-q", { seed: 9 });
  for (let i = 0; i < 12; i++) other.advance(50);
  other.load(state);
  assertEquals(other.save(), state);
  other.advance(50);
  assertEquals(other.steps, 550);
  training.close();
  other.close();
  const third = await start("async-nstep-q", { workers: 1 });
  assertThrows(
    () => third.load(state),
    RangeError,
    "Cannot restore 1 workers from a snapshot of 2",
  );
  third.close();
});

for (const failure of ["throw", "exit", "wait", "spin"]) {
  Deno.test(`a worker whose environment fails by '${failure}' is replaced`, async () => {
    const notices: string[] = [];
    const training = await start("a3c", {
      source: {
        module: FRAGILE,
        options: { chance: 0.01, failures: [failure] },
      },
      workers: 1,
      stepTimeoutMs: 1000,
      onNotice: (line) => notices.push(line),
    });
    while (notices.length < 1 || training.steps < 100) training.advance(50);
    assertEquals(training.steps % 50, 0);
    const { shared } = training.save() as { shared: { params: Float32Array } };
    assert(shared.params.every(Number.isFinite));
    const why = failure === "throw"
      ? "the pole broke"
      : failure === "exit"
      ? "its worker ended"
      : "it gave no answer within 1000 ms";
    for (const line of notices) {
      assert(/^Restarting worker 0, restart \d+ of/.test(line), line);
      assert(
        line.includes(
          `s: ${failure === "throw" ? "it threw Error: " : ""}${why}`,
        ),
        line,
      );
    }
    training.close();
  });
}

Deno.test("the others go on from stop to stop while a successor starts", async () => {
  const gate = await Deno.makeTempFile(), notices: string[] = [];
  await Deno.remove(gate);
  const training = await start("a3c", {
    source: {
      module: import.meta.resolve("./testdata/gated_env.ts"),
      options: { gate },
    },
    onNotice: (line) => notices.push(line),
  });
  await Deno.writeTextFile(gate, "");
  for (let i = 0; i < 5; i++) training.advance(50);
  assertEquals([training.steps, notices.length], [250, 1]);
  assertEquals(training.workerRates[0], 0);
  await Deno.remove(gate);
  while (training.workerRates[0] === 0) training.advance(50);
  assertEquals(training.steps % 50, 0);
  // A save waits for those that are on their way.
  await Deno.writeTextFile(gate, "");
  training.advance(50);
  await Deno.remove(gate);
  const { workers } = training.save() as { workers: unknown[] };
  assertEquals(workers.length, 2);
  training.close();
});

Deno.test("a worker that fails again and again ends the training", async () => {
  const training = await start("a3c", {
    source: { module: FRAGILE, options: { chance: 1, failures: ["throw"] } },
    workers: 1,
    restarts: 2,
    onNotice: () => {},
  });
  assertThrows(
    () => training.advance(50),
    Error,
    "Cannot go on with worker 0: it was restarted 2 times within 600 s, and now it threw Error: the pole broke",
  );
  training.close();
});

Deno.test("an environment may live in a process of its own, which may be killed", async () => {
  const module = import.meta.resolve("./testdata/process_env.ts");
  const training = await start("a3c", {
    workers: 1,
    source: { module, options: { source: "CartPole-v1" } },
  });
  training.advance(50);
  assertEquals(training.steps, 50);
  training.close();
});

Deno.test("bad input is one line", async () => {
  for (
    const [options, message] of [
      [
        { workers: 0 },
        "Cannot run A3C with workers = 0: expected an integer from 1 to 1024",
      ],
      [
        { workers: 5000 },
        "Cannot run A3C with workers = 5000: expected an integer from 1 to 1024",
      ],
      [
        { config: { stepsPerStop: 0.5 } },
        "Cannot run A3C with stepsPerStop = 0.5: expected an integer from 1 to 100000000",
      ],
      [{ source: "NoSuch-v0" }, "Unknown environment 'NoSuch-v0'"],
      [
        { source: { module: "./nowhere.ts" } },
        "Cannot import './nowhere.ts' in a host: expected an absolute URL",
      ],
      [{ source: { module: "file:///nowhere.ts" } }, "nowhere.ts"],
    ] as const
  ) {
    const error = await assertRejects(
      () => start("a3c", options as Partial<AsyncTrainingOptions>),
      Error,
      message,
    );
    assert(!error.message.includes("\n"), error.message);
  }
  await assertRejects(
    () => start("a2c"),
    RangeError,
    "Unknown asynchronous method 'a2c': expected a3c, async-q, async-nstep-q, async-sarsa",
  );
});

Deno.test("a file of the policy has the scale of the moment", async () => {
  const scalingBy = (mean: number) => ({
    mean: Array(4).fill(mean),
    variance: Array(4).fill(1),
  });
  let mean = 0;
  const { observationSpace, actionSpace } = spaces;
  const moving = {
    observationSpace,
    actionSpace,
    get observationScaling() {
      return scalingBy(mean);
    },
  };
  const training = await start("a3c", {
    spaces: moving,
    isForEvaluation: true,
  });
  mean = 2;
  const file = training.exportPolicy();
  assertEquals(file, training.exportPolicy({ scaling: scalingBy(2) }));
  training.close();
});
