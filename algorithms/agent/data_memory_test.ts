import { Agent, type Algorithm } from "@bellman/agent";
import { Dataset } from "@bellman/buffers/datasets";
import { RandomStream, selectBackend } from "@bellman/compute";
import { dqn } from "@bellman/dqn";
import { makeVec } from "@bellman/envs";
import { sac } from "@bellman/sac";
import { td3 } from "@bellman/td3";
import { train } from "@bellman/training";
import type { Episode, VecEnv } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";

await selectBackend("cpu");

/** Episodes whose rewards are all 7, which those of CartPole never are. */
function recorded(): Episode[] {
  return Array.from({ length: 3 }, () => ({
    observations: new Float32Array(4 * 6).fill(0.5),
    actions: new Int32Array(5),
    rewards: new Float64Array(5).fill(7),
    terminations: Uint8Array.of(0, 0, 0, 0, 1),
    truncations: new Uint8Array(5),
  }));
}

function spacesOf({ observationSpace, actionSpace }: VecEnv) {
  return { observationSpace, actionSpace };
}

const SETTINGS = {
  hiddenSizes: [8],
  batchSize: 8,
  bufferSize: 400,
  learningStarts: 20,
};

function learner(env: VecEnv, dataShare: number) {
  const data = new Dataset(recorded(), spacesOf(env));
  return new Agent(dqn, env, {
    data,
    config: { ...SETTINGS, dataShare },
    engine: "eager",
    seed: 1,
  });
}

Deno.test("recorded steps are the last rows of a batch, as many as their share", async () => {
  for (const [dataShare, rows] of [[0.5, 4], [0.25, 2], [0.01, 1], [0, 0]]) {
    const env = makeVec("CartPole-v1", { numEnvs: 1 });
    const agent = learner(env, dataShare);
    await train(agent, env, { totalTimesteps: 60, seed: 2 });
    assert(agent.updates > 0);
    const { batch } = agent.memory.sample(new RandomStream(0), {
      ...{ steps: 60, updates: 1, fraction: 0 },
    });
    const rewards = Array.from(batch.rewards as Float32Array);
    assertEquals(rewards.map((it) => +(it === 7)), [
      ...new Array(8 - rows).fill(0),
      ...new Array(rows).fill(1),
    ]);
    agent.close();
  }
});

Deno.test("data alone is learned from without an environment", async () => {
  const env = makeVec("Pendulum-v1", { numEnvs: 1 });
  const episodes = Array.from({ length: 3 }, (): Episode => ({
    observations: new Float32Array(3 * 6),
    actions: Float32Array.of(-2, -1, 0, 1, 2),
    rewards: new Float64Array(5),
    terminations: new Uint8Array(5),
    truncations: Uint8Array.of(0, 0, 0, 0, 1),
  }));
  for (const algorithm of [td3, sac] as Algorithm[]) {
    const agent = new Agent(algorithm, env, {
      data: new Dataset(episodes, spacesOf(env)),
      config: { ...SETTINGS, dataShare: 1 } as never,
      engine: "eager",
    });
    const { step, updates } = await train(agent, null, { totalTimesteps: 10 });
    assertEquals([step, updates, agent.steps], [10, 10, 10]);
    const { batch } = agent.memory.sample(new RandomStream(0), {
      ...{ steps: 10, updates: 10, fraction: 1 },
    });
    const actions = batch.actions as Float32Array;
    assert(actions.every((it) => [-1, -0.5, 0, 0.5, 1].includes(it)));
    assertEquals(batch.terminated, new Uint8Array(8));
    assertThrows(() => agent.memory.add({} as never), TypeError, "dataShare");
    agent.close();
  }
});

Deno.test("a restored learner of both goes on bit for bit", async () => {
  const run = async (from?: ReturnType<Agent["save"]>, state?: unknown) => {
    const env = makeVec("CartPole-v1", { numEnvs: 1 });
    const agent = learner(env, 0.5);
    env.reset({ seed: 4 });
    if (from !== undefined) {
      agent.load(from);
      env.load(state as never);
    }
    const steps = (count: number) => {
      for (let i = 0; i < count; i++) {
        const actions = agent.act(env.observations());
        agent.observe(env.step(actions as Int32Array));
        agent.update();
      }
    };
    await Promise.resolve();
    return { agent, env, steps };
  };
  const whole = await run();
  whole.steps(60);
  const agent = structuredClone(whole.agent.save());
  const env = structuredClone(whole.env.save());
  whole.steps(30);
  const other = await run(agent, env);
  other.steps(30);
  assertEquals(other.agent.save(), whole.agent.save());
  const { experience, ...rest } = agent as Record<string, never>;
  const { data: _, ...without } = experience as Record<string, never>;
  assertThrows(
    () => other.agent.load({ ...rest, experience: { ...without, data: {} } }),
    TypeError,
    "with other data",
  );
  whole.agent.close();
  other.agent.close();
});

Deno.test("data excludes forms of replay that it has no rows of", () => {
  const env = makeVec("CartPole-v1", { numEnvs: 1 });
  const data = new Dataset(recorded(), spacesOf(env));
  for (
    const [config, line] of [
      [{ nSteps: 3 }, "with nSteps: 3: expected nSteps: 1"],
      [
        { bootstrapTruncated: false },
        "with bootstrapTruncated: false: expected true",
      ],
      [
        { replay: "proportional" },
        "with replay: proportional: expected uniform",
      ],
    ] as const
  ) {
    const settings = { ...SETTINGS, ...config } as never;
    assertThrows(
      () => new Agent(dqn, env, { data, config: settings, engine: "eager" }),
      TypeError,
      line,
    );
  }
  const pendulum = makeVec("Pendulum-v1", { numEnvs: 1 });
  assertThrows(
    () => new Agent(td3, pendulum, { data, engine: "eager" }),
    Error,
    "observations",
  );
});
