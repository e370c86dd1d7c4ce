import {
  ACROBOT,
  CART_POLE,
  type Dynamics,
  DynamicsEnv,
  MOUNTAIN_CAR,
  MOUNTAIN_CAR_CONTINUOUS,
  PENDULUM,
  TimeLimit,
} from "@bellman/envs";
import { type TensorEnv, tensorEnv } from "@bellman/envs/tensor";
import * as tf from "@tensorflow/tfjs";
import { checkEach, type Comparison, type Expected } from "./comparison.ts";

/** The fixture's absolute tolerances, taken as ours: |b| only loosens them. */
const TOLERANCE = 1e-6;
const CHAOTIC_TOLERANCE = 1e-5;

const DYNAMICS: Readonly<Record<string, Dynamics>> = {
  Acrobot: ACROBOT,
  CartPole: CART_POLE,
  MountainCar: MOUNTAIN_CAR,
  MountainCarContinuous: MOUNTAIN_CAR_CONTINUOUS,
  Pendulum: PENDULUM,
};

interface Inputs {
  env: string;
  initial_state: number[];
  actions: (number | number[])[];
  max_episode_steps?: number;
}

function envAt({ env: id, initial_state }: Inputs): DynamicsEnv {
  const dynamics = DYNAMICS[id.replace(/-v\d+$/, "")];
  if (dynamics === undefined) throw new Error(`there is no environment ${id}`);
  const env = new DynamicsEnv(dynamics);
  env.reset({ seed: 0 });
  env.setState(initial_state);
  return env;
}

function actionOf(action: number | number[]): number | Float32Array {
  return typeof action === "number" ? action : Float32Array.from(action);
}

interface DynamicsCase {
  inputs: Inputs;
  expected: Record<
    "states" | "observations" | "rewards" | "terminated",
    Expected[]
  >;
}

/** Differences of one step in float32, of numbers up to 30. */
const SINGLE_TOLERANCE = 2e-5;

/** Takes each step of a case in tensors, from the state that is expected. */
function runTensors(
  env: TensorEnv,
  { inputs, expected }: DynamicsCase,
  comparison: Comparison,
): void {
  const states = expected.states as unknown as number[][];
  const before = [inputs.initial_state, ...states].slice(0, states.length);
  const rows = inputs.actions.slice(0, states.length).map((it) => [it].flat());
  const names = Object.keys(env.start(tf.zeros([env.startSize, 1])));
  const actions = env.actionSpace.type === "box"
    ? tf.tensor2d(rows)
    : tf.tensor1d(rows.flat(), "int32");
  const { state, rewards, terminated } = env.step(
    Object.fromEntries(
      names.map((name, i) => [name, tf.tensor1d(before.map((it) => it[i]))]),
    ),
    actions,
  );
  const seen = {
    states: tf.stack(Object.values(state), 1),
    observations: env.observe(state),
    rewards,
    terminated,
  };
  for (const [name, values] of Object.entries(expected)) {
    const made = seen[name as keyof typeof seen].dataSync();
    comparison.numbers(`${name} in tensors`, [...made], values, {
      tolerance: SINGLE_TOLERANCE,
    });
  }
}

function runDynamics(
  { inputs, expected }: DynamicsCase,
  comparison: Comparison,
): void {
  const env = envAt(inputs);
  const seen = {
    states: [],
    observations: [],
    rewards: [],
    terminated: [],
  } as Record<string, number[]>;
  for (let i = 0; i < expected.states.length; i++) {
    const step = env.step(actionOf(inputs.actions[i]));
    seen.states.push(...Array.from(env.state));
    seen.observations.push(...step.observation as Float32Array);
    seen.rewards.push(step.reward);
    seen.terminated.push(+step.terminated);
  }
  const tolerance = inputs.env.startsWith("Acrobot")
    ? CHAOTIC_TOLERANCE
    : TOLERANCE;
  for (const [name, values] of Object.entries(expected)) {
    comparison.numbers(name, seen[name], values, { tolerance });
  }
}

function runTimeLimit(
  { inputs, expected }: {
    inputs: Inputs;
    expected: { terminated_truncated: boolean[][] };
  },
  comparison: Comparison,
): void {
  const inner = envAt(inputs);
  const env = new TimeLimit(inner, inputs.max_episode_steps!);
  env.reset({ seed: 0 });
  inner.setState(inputs.initial_state);
  const seen = inputs.actions.map((action) => {
    const { terminated, truncated } = env.step(actionOf(action));
    return [terminated, truncated];
  });
  comparison.that(
    `${JSON.stringify(seen)} as expected`,
    JSON.stringify(seen) === JSON.stringify(expected.terminated_truncated),
  );
}

/** Gymnasium's classic control: states, observations, rewards and ends. */
export const runner = checkEach({
  cases(it, comparison) {
    runDynamics(it, comparison);
    tf.tidy(() => runTensors(tensorEnv(it.inputs.env), it, comparison));
  },
  time_limit: runTimeLimit,
});
