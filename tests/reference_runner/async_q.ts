import { Agent, type Algorithm } from "@bellman/agent";
import {
  actorLearner,
  type AsyncConfig,
  asyncQ,
  defaultAsyncConfig,
  qLearner,
  SharedParameters,
} from "@bellman/async";
import type { Engine } from "@bellman/compute";
import {
  categorical,
  observationEncoder,
  type Policy,
} from "@bellman/policies";
import type { Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { checkEach, type Comparison, type Expected } from "./comparison.ts";

interface Case {
  name: string;
  inputs: {
    theta0: number[][];
    n_states: number | null;
    n_features: number;
    n_actions: number;
    gamma: number;
    I_async_update: number;
    I_target: number;
    optimizer: "rmsprop" | "sgd";
    eta: number;
    rms_alpha: number;
    rms_eps: number;
    transitions: {
      s: number | number[];
      a: number;
      r: number;
      s2: number | number[];
      terminal: boolean;
    }[];
  };
  expected: {
    y_and_q: [number, number][];
    events: {
      step: number;
      events: ("target" | "async_update")[];
      theta: Expected;
      theta_minus: Expected;
      rms_g: Expected;
      accumulated_gradient?: Expected;
    }[];
  };
}

/** Values that are linear in the features of an observation, without a bias. */
function linearPolicy(space: Space, theta0: number[][]): Policy {
  const distribution = categorical(theta0[0].length);
  return {
    ...observationEncoder(space),
    stateSize: 0,
    distribution,
    noise: distribution.noise,
    usesStateDependentExploration: false,
    squashesActions: false,
    init: () => ({ theta: tf.tensor2d(theta0) }),
    apply: ({ theta }, observations) => ({
      policy: tf.matMul(observations as tf.Tensor2D, theta as tf.Tensor2D),
    }),
    sample: (_, { policy }) => distribution.mode(policy),
    mode: ({ policy }) => distribution.mode(policy),
  };
}

function configOf({ inputs }: Case): AsyncConfig {
  return {
    ...defaultAsyncConfig,
    gamma: inputs.gamma,
    updateInterval: inputs.I_async_update,
    targetInterval: inputs.I_target,
    optimizer: inputs.optimizer === "sgd" ? "momentum_sgd" : "shared_rmsprop",
    decay: inputs.optimizer === "sgd" ? 0 : inputs.rms_alpha,
    rmspropEpsilon: inputs.rms_eps,
    learningRate: inputs.eta,
    learningRateSchedule: "constant",
  };
}

/** Runs a case: one agent whose actions and answers are those of the fixture. */
function runCase(it: Case, comparison: Comparison, engine: Engine): void {
  const { theta0, n_states: n, n_features, transitions, optimizer } = it.inputs;
  const observationSpace: Space = n !== null ? { type: "discrete", n } : {
    type: "box",
    shape: [n_features],
    low: -Infinity,
    high: Infinity,
    dtype: "float32",
  };
  const config = configOf(it);
  const shared = SharedParameters.from(
    Float32Array.from(theta0.flat()),
    { ...config, workers: 1 },
  );
  const server = shared.connect(0);
  let pushed: Float32Array | undefined;
  const watched = {
    ...server,
    get steps() {
      return server.steps;
    },
    push(gradient: Float32Array, rate: number) {
      pushed = gradient.slice();
      server.push(gradient, rate);
    },
  };
  let step = 0;
  const definition: Algorithm<AsyncConfig> = {
    ...asyncQ,
    build(_, context) {
      const parts = actorLearner(
        qLearner(linearPolicy(observationSpace, theta0)),
        {
          config,
          context,
          form: { isOneStep: true, learnsQ: true },
          connect: () => watched,
        },
      );
      return {
        ...parts,
        explore: {
          act(exploration) {
            parts.explore!.act(exploration);
            return Int32Array.of(transitions[step].a);
          },
        },
      };
    },
  };
  const agent = new Agent(definition, {
    observationSpace,
    actionSpace: { type: "discrete", n: it.inputs.n_actions },
    numEnvs: 1,
  }, { engine });
  const observation = (s: number | number[]) =>
    n === null ? Float32Array.from(s as number[]) : Int32Array.of(s as number);
  const compare = (
    name: string,
    actual: ArrayLike<number>,
    expected: Expected,
  ) => {
    const place = `step ${step}: ${name}`;
    comparison.numbers(place, actual, expected);
  };
  const { memory } = shared;
  const events = new Map(it.expected.events.map((it) => [it.step, it]));
  for (; step < transitions.length; step++) {
    const { s, r, s2, terminal } = transitions[step];
    pushed = undefined;
    const before = shared.memory.passing.slice();
    agent.act(observation(s));
    agent.observe({
      observations: observation(s2),
      finalObservations: observation(s2),
      rewards: Float64Array.of(r),
      terminated: Uint8Array.of(Number(terminal)),
      truncated: new Uint8Array(1),
    });
    const { target_mean, q_mean } = agent.update()!;
    compare("y and q", [target_mean, q_mean], it.expected.y_and_q[step]);
    const event = events.get(step + 1);
    const wanted = event?.events ?? [];
    const isPushed = wanted.includes("async_update");
    comparison.that("an update", isPushed === (pushed !== undefined));
    const copied = memory.passing[1] - before[1];
    comparison.that("a copy", wanted.includes("target") === (copied === 1));
    if (event === undefined) continue;
    compare("theta", memory.params, event.theta);
    compare("theta minus", memory.target, event.theta_minus);
    if (optimizer === "rmsprop") compare("g", memory.slots, event.rms_g);
    const { accumulated_gradient: gradient } = event;
    if (gradient && pushed) compare("the gradient", pushed, gradient);
  }
  agent.close();
}

/** Asynchronous one-step Q-learning, algorithm 1 of source 004. */
export const runner = checkEach({ cases: runCase });
