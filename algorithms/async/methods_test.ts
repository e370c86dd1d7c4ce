import { assertAlmostEquals, assertEquals } from "@std/assert";
import { Agent, type Algorithm } from "@bellman/agent";
import {
  type Engine,
  type Params,
  RandomStream,
  ravel,
  selectBackend,
} from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { discreteQFunction } from "@bellman/policies";
import type { VecEnv } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";
import { a3c, asyncNStepQ, asyncQ, asyncSarsa } from "./methods.ts";

await selectBackend("cpu");

const METHODS = { a3c, asyncQ, asyncNStepQ, asyncSarsa };
type Config = Partial<AsyncConfig>;

const SMALL: Config = {
  hiddenSizes: [8],
  lstmSize: 4,
  learningRate: 0.01,
  targetInterval: 7,
  epsilonSteps: 50,
  maxSteps: 5,
  rmspropEpsilon: 0.1,
  valueNetwork: "shared",
};

const numbersOf = (params: Params) => ravel(params).dataSync();

/** Returns the settings of {@link SMALL} that a method has. */
function smallOf({ meta: { schema } }: Algorithm<AsyncConfig>): Config {
  const own = Object.entries(SMALL).filter(([key]) => key in schema.properties);
  return Object.fromEntries(own);
}

function agentOf(
  name: keyof typeof METHODS,
  env: VecEnv,
  { config = {}, engine = "eager" }: { config?: Config; engine?: Engine } = {},
): Agent<AsyncConfig> {
  return new Agent(METHODS[name], env, {
    config: { ...smallOf(METHODS[name]), ...config },
    seed: 3,
    engine,
    totalTimesteps: 200,
  });
}

for (const method of Object.values(METHODS)) {
  Deno.test(`${method.meta.name} tells all of its statistics`, () => {
    const env = makeVec("CartPole-v1", { numEnvs: 1 });
    const agent = new Agent(method, env, {
      config: smallOf(method),
    });
    let observations = env.reset({ seed: 1 }), stats;
    while (stats === undefined || Object.keys(stats).length === 0) {
      const step = env.step(agent.act(observations));
      agent.observe(step);
      observations = step.observations;
      stats = agent.update();
    }
    assertEquals(Object.keys(stats), method.statisticNames);
    agent.close();
  });
}

Deno.test("one worker is the pseudocode, step by step", () => {
  const env = makeVec("CartPole-v1", { numEnvs: 1 });
  const observations = env.reset({ seed: 5 }) as Float32Array;
  const activation = "tanh" as const;
  const config = {
    activation,
    updateInterval: 3,
    decay: 0.9,
    rmspropEpsilon: 0.01,
  };
  const agent = agentOf("asyncQ", env, { config });
  const rate = (T: number) => 0.01 * (1 - T / 200);
  // The plain form: theta, theta minus, g, T and t as the pseudocode has them.
  const network = discreteQFunction({
    observationSpace: env.observationSpace,
    actionSpace: { type: "discrete", n: 2 },
    networkOptions: { hiddenSizes: [8], activation },
  });
  const theta = network.init(new RandomStream(3).split("init"));
  assertEquals(numbersOf(agentParams(agent)), numbersOf(theta));
  let thetaMinus = copyOf(theta);
  const g = mapOf(theta, (it) => tf.zerosLike(it));
  let d = mapOf(theta, (it) => tf.zerosLike(it));
  let T = 0, t = 0;
  let s = observations.slice();
  while (T < 60) {
    const action = agent.act(s)[0];
    const step = env.step(Int32Array.of(action));
    agent.observe(step);
    const stats = agent.update()!;
    const isTerminal = step.terminated[0] === 1;
    const next = isTerminal || step.truncated[0]
      ? step.finalObservations as Float32Array
      : step.observations as Float32Array;
    const best = Math.max(
      ...network.apply(thetaMinus, tf.tensor2d(next.slice(), [1, 4]))
        .dataSync(),
    );
    const y = step.rewards[0] + (isTerminal ? 0 : 0.99 * best);
    const x = tf.tensor2d(s, [1, 4]);
    const grads = tf.grads((...all: tf.Tensor[]) => {
      const at = Object.fromEntries(
        Object.keys(theta).map((k, i) => [k, all[i]]),
      );
      const q = tf.slice(network.apply(at, x), [0, action], [1, 1]);
      return tf.square(tf.sub(y, q)).asScalar();
    })(Object.values(theta));
    Object.keys(d).forEach((k, i) => d[k] = tf.add(d[k], grads[i]));
    s = (step.observations as Float32Array).slice();
    T++, t++;
    if (T % 7 === 0) thetaMinus = copyOf(theta);
    if (t % 3 === 0 || isTerminal) {
      for (const k in theta) {
        g[k] = tf.add(tf.mul(g[k], 0.9), tf.mul(tf.square(d[k]), 0.1));
        const change = tf.div(d[k], tf.sqrt(tf.add(g[k], 0.01)));
        theta[k] = tf.sub(theta[k], tf.mul(change, rate(T)));
      }
      d = mapOf(theta, (it) => tf.zerosLike(it));
    }
    assertAlmostEquals(stats.target_mean, y, 1e-4);
  }
  agent.act(s); // pulls
  const [own, wanted] = [agentParams(agent), theta].map(numbersOf);
  own.forEach((it, i) => assertAlmostEquals(it, wanted[i], 1e-4));
  agent.close();
});

function agentParams(agent: Agent<AsyncConfig>): Params {
  return Object.fromEntries(
    Object.entries(agent.params)
      .map(([path, { data, shape }]) => [path, tf.tensor(data, shape)]),
  );
}

function mapOf(params: Params, map: (it: tf.Tensor) => tf.Tensor): Params {
  return Object.fromEntries(
    Object.entries(params).map(([k, it]) => [k, map(it)]),
  );
}

function copyOf(params: Params): Params {
  return mapOf(params, (it) => it.clone());
}

for (const name of ["asyncQ", "asyncNStepQ", "asyncSarsa"] as const) {
  Deno.test(`values of all actions of ${name} are those of the network`, () => {
    const env = makeVec("CartPole-v1", { numEnvs: 1 });
    const agent = agentOf(name, env);
    const seen = env.reset({ seed: 1 }) as Float32Array;
    const { policy } = agent.model.apply(
      agentParams(agent),
      tf.tensor2d(seen, [1, 4]),
    );
    const found = agent.qValues!(seen);
    assertEquals(found.length, 2);
    policy.dataSync().forEach((it, i) =>
      assertAlmostEquals(found[i], it, 1e-6)
    );
    agent.close();
  });
}
