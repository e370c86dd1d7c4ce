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
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";

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

function runDynamics(
  { inputs, expected }: {
    inputs: Inputs;
    expected: Record<
      "states" | "observations" | "rewards" | "terminated",
      Expected[]
    >;
  },
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
    comparison.numbers(name, seen[name], { expected: values, tolerance });
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
export const envDynamicsRunner: FixtureRunner = async (fixture, comparison) => {
  for (const it of fixture.cases ?? []) {
    await comparison.check(it.name, () => runDynamics(it, comparison));
  }
  for (const it of fixture.time_limit ?? []) {
    await comparison.check(
      `time limit of ${it.inputs.env}`,
      () => runTimeLimit(it, comparison),
    );
  }
};
