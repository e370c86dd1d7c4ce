/** Types of agents, by their environment and by the schema of their settings. */
import { A2C, a2c } from "@bellman/a2c";
import { Agent, type Algorithm, type SettingsOf } from "@bellman/agent";
import { DQN } from "@bellman/dqn";
import { box, discrete, makeVec } from "@bellman/envs";
import type { ActorCritic } from "@bellman/policies";
import { PPO } from "@bellman/ppo";
import { SAC, sac } from "@bellman/sac";
import { type Callback, evaluate, train } from "@bellman/training";
import type { Trainable, VecEnv } from "@bellman/types";
import { same, use } from "./same.ts";

export async function ofEnvironments(): Promise<void> {
  const poles = makeVec("CartPole-v1", { numEnvs: 2 });
  const agent = new A2C(poles, { config: { numSteps: 4 }, seed: 1 });
  const actions = agent.act(poles.reset());
  same<typeof actions, Int32Array>(true);
  const step = poles.step(actions);
  agent.observe(step);
  const actor = agent.policy({ deterministic: true });
  same<ReturnType<typeof actor.act>, Int32Array>(true);
  same<typeof agent.model, ActorCritic>(true);
  same<typeof agent.config.numSteps, number>(true);
  const trainable: Trainable = agent, any: Agent = agent;
  const watch: Callback<Float32Array> = {
    onStep: (_, { observations }) =>
      same<typeof observations, Float32Array>(true),
  };
  await train(agent, poles, { totalTimesteps: 8, callbacks: [watch] });
  await evaluate(actor, poles, { episodes: 1 });
  use(trainable, any);

  const pendulums = makeVec("Pendulum-v1", { numEnvs: 1 });
  const soft = new SAC(pendulums);
  same<ReturnType<typeof soft.act>, Float32Array>(true);
  pendulums.step(soft.act(pendulums.reset()));
  // @ts-expect-error -- actions of a box are no whole numbers
  poles.step(soft.act(pendulums.reset()));
  use(new PPO(poles), new DQN(poles));
}

export function ofSpaces(env: VecEnv): void {
  const tanks = new Agent(sac, {
    observationSpace: { type: "discrete", n: 3 },
    actionSpace: { type: "box", shape: [1], low: 0, high: 1, dtype: "float32" },
    numEnvs: 2,
  });
  same<ReturnType<typeof tanks.act>, Float32Array>(true);
  const doors = new Agent(a2c, {
    observationSpace: box({ shape: [2] }),
    actionSpace: discrete(2),
    numEnvs: 1,
  });
  same<ReturnType<typeof doors.act>, Int32Array>(true);
  const general = new A2C(env);
  env.step(general.act(env.reset()));
}

export function ofSettings(env: VecEnv): void {
  // @ts-expect-error -- there is no such setting
  use(new A2C(env, { config: { gama: 0.9 } }));
  // @ts-expect-error -- nor of the algorithm's value
  use(new Agent(a2c, env, { config: { gama: 0.9 } }));
  // @ts-expect-error -- it is a number
  use(new A2C(env, { config: { gamma: "0.9" } }));
  // @ts-expect-error -- these are its words
  use(new A2C(env, { config: { valueNetwork: "both" } }));
  // @ts-expect-error -- there is no such option
  use(new A2C(env, { seeds: 3 }));
}

const schema = {
  properties: {
    steps: { type: "integer", default: 16 },
    rate: { type: ["number", "null"], default: null },
    isFast: { type: "boolean", default: true },
    kind: { enum: ["wide", "deep"], default: "wide" },
    sizes: { type: "array", items: { type: "integer" }, default: [8] },
    parts: {
      type: "object",
      additionalProperties: { type: "string" },
      default: {},
    },
    place: {
      type: "object",
      properties: { x: { type: "number" } },
      default: { x: 0 },
    },
    either: { anyOf: [{ const: "auto" }, { type: "number" }], default: "auto" },
  },
} as const;

type Settings = SettingsOf<typeof schema>;

export function ofSchemas(
  env: VecEnv,
  parts: Algorithm<Settings>["build"],
): void {
  same<Settings["steps"], number>(true);
  same<Settings["rate"], number | null>(true);
  same<Settings["isFast"], boolean>(true);
  same<Settings["kind"], "wide" | "deep">(true);
  same<Settings["sizes"], number[]>(true);
  same<Settings["parts"], Record<string, string>>(true);
  same<Settings["place"], { x: number }>(true);
  same<Settings["either"], "auto" | number>(true);
  const widened = (value: number) => ({ type: "integer", default: value });
  const others = { properties: { count: widened(3) } };
  same<SettingsOf<typeof others>, { count: number }>(true);

  const own: Algorithm<Settings> = {
    meta: { name: "own", summary: "An algorithm of the user's", schema },
    build(config, context) {
      same<typeof config.kind, "wide" | "deep">(true);
      return parts(config, context);
    },
  };
  const agent = new Agent(own, env, { config: { kind: "deep", steps: 3 } });
  same<typeof agent.config.sizes, number[]>(true);
  // @ts-expect-error -- there is no such kind
  use(new Agent(own, env, { config: { kind: "tall" } }));
  // @ts-expect-error -- there is no such setting
  use(new Agent(own, env, { config: { step: 3 } }));
}
