// deno-lint-ignore-file no-console -- a bench that prints
/**
 * Scaling of workers. Two take steps and then one, in turn: the wall-clock ratio is that
 * of this machine under load; processor time estimates two idle cores.
 * Then the parts of a step, in this thread, and a model of more workers, each with its
 * own core. A step costs more with others, as they change what it reads: the extra cost
 * with one other, times the chance that another changed it last. At each stop all wait
 * for the last.
 */
import process from "node:process";
import { Agent } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { AsyncTraining } from "./async_training.ts";
import { type AsyncConfig, defaultAsyncConfig } from "./config.ts";
import { asyncMethods } from "./methods.ts";
import { type ParameterServer, SharedParameters } from "./parameter_server.ts";

await selectBackend("cpu");

interface Task {
  readonly id: string;
  readonly kwargs?: Record<string, unknown>;
  readonly config: Partial<AsyncConfig>;
  /** Steps of a round, and rounds. */
  readonly steps: number;
  readonly rounds: number;
}

const TASKS: Task[] = [
  { id: "CartPole-v1", config: {}, steps: 8000, rounds: 31 },
];
try {
  const { isAtariInstalled } = await import("@bellman/envs/atari");
  if (isAtariInstalled()) {
    TASKS.push({
      id: "ALE/Pong-v5",
      kwargs: { preprocessing: "baselines" },
      config: { network: "cnn", maxSteps: 20 },
      // As many as between two stops of a training.
      steps: defaultAsyncConfig.stepsPerStop,
      rounds: 7,
    });
  }
} catch {
  // The Arcade Learning Environment is not installed.
}
/** Methods, those that explore at a rate that they have after a while. */
const METHODS: Record<string, Partial<AsyncConfig>> = {
  a3c: {},
  "async-q": {
    epsilonSteps: 1,
    finalEpsilons: [0.1],
    finalEpsilonProbabilities: [1],
  },
};
const WORKERS = [2, 16, 64];

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

function quarters(numbers: readonly number[]): string {
  const at = (share: number) =>
    numbers.toSorted((a, b) => a - b)[Math.floor(share * numbers.length)];
  return `${at(0.25).toFixed(2)} to ${at(0.75).toFixed(2)}`;
}

/** Returns the processor time of this process in milliseconds. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Wall-clock and processor time of a call, in milliseconds. */
function timesOf(call: () => void): { clock: number; processor: number } {
  const before = processorTime(), start = performance.now();
  call();
  const clock = performance.now() - start;
  return { clock, processor: processorTime() - before };
}

/** Compares one worker with two; returns the share that a step costs more with two. */
async function printScaling(method: string, task: Task): Promise<number> {
  const { id, kwargs = {}, config, steps, rounds } = task;
  const trainings: AsyncTraining[] = [];
  for (const workers of [1, 2]) {
    const training = await AsyncTraining.start(method, {
      source: { id, kwargs },
      spaces: makeVec(id, { numEnvs: 1, kwargs }),
      workers,
      totalTimesteps: 10_000_000,
      config,
    });
    training.advance(steps);
    trainings.push(training);
  }
  const seen = Array.from({ length: rounds }, () => {
    const [one, two] = trainings.map((it) =>
      timesOf(() => void it.advance(steps))
    );
    return {
      clock: one.clock / two.clock,
      processor: 2 * one.processor / two.processor,
      perStep: 1000 * one.processor / steps,
    };
  });
  for (const it of trainings) it.close();
  const [clock, processor] = (["clock", "processor"] as const).map((name) =>
    seen.map((it) => it[name])
  );
  const perStep = medianOf(seen.map((it) => it.perStep));
  console.log(
    `${method} on ${id}: two workers make ${
      medianOf(clock).toFixed(2)
    } times the steps of one by the clock (quarters ${quarters(clock)}), ${
      medianOf(processor).toFixed(2)
    } by processor time (quarters ${quarters(processor)}); one takes ${
      perStep.toFixed(1)
    } us a step`,
  );
  return Math.max(0, 2 / medianOf(processor) - 1);
}

/** Parts of a step in microseconds. */
interface Parts {
  environment: number;
  policy: number;
  update: number;
  push: number;
  pull: number;
}

/** Measures the parts of an agent's steps in processor time, without workers. */
function partsOf(method: string, task: Task): Parts {
  const { id, kwargs = {}, config, steps } = task;
  const env = makeVec(id, { numEnvs: 1, kwargs });
  const { with: define } = asyncMethods.find(({ meta }) =>
    meta.name === method
  )!;
  const calls = { push: 0, pull: 0 };
  let server!: ParameterServer;
  const agent = new Agent<AsyncConfig>(
    define((params, config) => {
      server = SharedParameters.from(params, { ...config, workers: 1 })
        .connect(0);
      return {
        ...server,
        get steps() {
          return server.steps;
        },
        pull(into, part) {
          const isNew = server.pull(into, part);
          calls.pull += Number(isNew);
          return isNew;
        },
        push(gradient, rate) {
          calls.push++;
          server.push(gradient, rate);
        },
      };
    }),
    env,
    { config, totalTimesteps: 10_000_000, threads: 1 },
  );
  const observations = env.reset({ seed: 0 });
  const step = env.step(agent.act(observations));
  const gradient = new Float32Array(server.size).fill(1e-9);
  const params = new Float32Array(server.size);
  const push = () => server.push(gradient, 1e-9);
  const learn = () => {
    agent.act(observations);
    agent.observe(step);
    agent.update();
  };
  /** Microseconds of a call: the median of five rounds. */
  const timeOf = (call: () => unknown) => {
    const round = () => {
      for (let i = 0; i < steps; i++) call();
    };
    const times = Array.from({ length: 5 }, () => timesOf(round).processor);
    return 1000 * medianOf(times) / steps;
  };
  learn();
  const actions = agent.act(observations);
  const once = { push: timeOf(push), pull: 0 };
  const both = timeOf(() => {
    push();
    server.pull(params, "params");
  });
  once.pull = Math.max(0, both - once.push);
  const environment = timeOf(() => env.step(actions));
  const policy = timeOf(() => agent.act(observations));
  calls.push = calls.pull = 0;
  const all = timeOf(learn);
  const pushes = once.push * calls.push / (5 * steps);
  const pulls = once.pull * calls.pull / (5 * steps);
  agent.close();
  return {
    environment,
    policy,
    update: all - policy - pushes - pulls,
    push: pushes,
    pull: pulls,
  };
}

/** Microseconds that a stop takes without its steps: the fastest of many. */
async function stopOf(): Promise<number> {
  const training = await AsyncTraining.start("a3c", {
    source: "CartPole-v1",
    spaces: makeVec("CartPole-v1", { numEnvs: 1 }),
    workers: 2,
  });
  const time = (steps: number) =>
    Math.min(
      ...Array.from({ length: 300 }, () =>
        timesOf(() => void training.advance(steps)).clock),
    );
  time(2);
  const stop = 1000 * (2 * time(2) - time(4));
  training.close();
  return Math.max(0, stop);
}

const stop = await stopOf();
console.log(`a stop of two workers: ${stop.toFixed(0)} us`);
for (const task of TASKS) {
  for (const [method, config] of Object.entries(METHODS)) {
    const own = { ...task, config: { ...task.config, ...config } };
    const more = await printScaling(method, own);
    const parts = Object.entries(partsOf(method, own));
    const alone = parts.reduce((sum, [, time]) => sum + time, 0);
    const { stepsPerStop } = defaultAsyncConfig;
    const speedup = (workers: number) => {
      const step = alone * (1 + more * 2 * (workers - 1) / workers);
      const each = stepsPerStop * step / workers + stop;
      return stepsPerStop * alone / each;
    };
    const times = parts.map(([name, time]) => `${name} ${time.toFixed(1)}`);
    const model = WORKERS.map((it) =>
      `${it} workers ${speedup(it).toFixed(1)}`
    );
    console.log(
      `  us a step: ${times.join(", ")}; model, times one worker: ${
        model.join(", ")
      }`,
    );
  }
}

for (const [name, size] of [["mlp 64-64", 4675], ["cnn", 1_687_719]] as const) {
  const server = SharedParameters.from(new Float32Array(size), {
    ...defaultAsyncConfig,
    workers: 1,
  }).connect(0);
  const gradient = new Float32Array(size).fill(0.1);
  const params = new Float32Array(size);
  Deno.bench(`push and pull, ${name}`, () => {
    server.push(gradient, 1e-3);
    server.pull(params, "params");
  });
}
