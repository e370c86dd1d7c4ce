/**
 * The packages meet in the interfaces of `@bellman/types`; this file holds the
 * pairs together. It fails to compile, in `deno task check`, when one drifts,
 * and runs each pair once.
 */
import { assertEquals } from "@std/assert";
import { A2C } from "@bellman/a2c";
import { ACER } from "@bellman/acer";
import { ACKTR } from "@bellman/acktr";
import { Agent, type AgentSpaces, type RewardScale } from "@bellman/agent";
import * as buffers from "@bellman/buffers";
import { LIVE_ALGORITHMS } from "./testdata/live_algorithms.ts";
import { type Params, RandomStream, selectBackend } from "@bellman/compute";
import * as envs from "@bellman/envs";
import * as policies from "@bellman/policies";
import type { ObservationScale } from "@bellman/policies";
import { SAC } from "@bellman/sac";
import * as training from "@bellman/training";
import type {
  Actor,
  RandomSource,
  Space,
  StateTree,
  Trainable,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { BOX_ONLY } from "./runs.ts";

await selectBackend("cpu");

function cartPole(numEnvs = 2): VecEnv {
  return envs.makeVec("CartPole-v1", { numEnvs });
}

Deno.test("training takes the vector environments of envs", () => {
  const env = cartPole() satisfies VecEnv;
  env.reset({ seed: 0 });
  const step = env.step(Int32Array.of(0, 1)) satisfies VecStep;
  assertEquals(step.rewards.length, 2);
});

Deno.test("training takes agents of every algorithm, and evaluation their actors", () => {
  const env = cartPole();
  const observations = env.reset({ seed: 0 });
  for (const Kind of [A2C, ACER, ACKTR, SAC]) {
    const agent = new Kind(env satisfies AgentSpaces, {
      config: { hiddenSizes: [8] },
    }) satisfies Trainable;
    const actor = agent.policy({ numEnvs: 2 }) satisfies Actor;
    assertEquals((actor.act(observations) as Int32Array).length, 2);
    const tree = {
      env: env.save() satisfies StateTree,
      algorithm: agent.save() satisfies StateTree,
    };
    const copy = structuredClone(tree);
    env.load(copy.env);
    agent.load(copy.algorithm);
    agent.close();
  }
});

for (const definition of LIVE_ALGORITHMS) {
  Deno.test(`${definition.meta.name} looks at images of at least 36x36 with convolutions by default`, () => {
    const pathsOf = (side: number) => {
      const observationSpace = envs.box({
        low: 0,
        high: 255,
        shape: [side, side, 1],
        dtype: "uint8",
      });
      const actionSpace = BOX_ONLY.includes(definition.meta.name)
        ? envs.box({ low: -1, high: 1, shape: [1] })
        : envs.discrete(2);
      const spaces = { observationSpace, actionSpace };
      // Orthogonal kernels of 512 units take seconds.
      const own = {
        orthogonalInit: false,
        bufferSize: 100,
        batchSize: 10,
        learningStarts: 10,
        numSteps: 20,
        replayStart: 20,
      };
      const config = Object.fromEntries(
        Object.entries(own)
          .filter(([key]) => key in definition.meta.schema.properties),
      );
      const agent = new Agent(definition, { ...spaces, numEnvs: 1 }, {
        config,
      });
      const paths = Object.keys(agent.params);
      agent.close();
      return paths;
    };
    const isConvolution = (path: string) => path.includes("conv0/kernel");
    assertEquals(pathsOf(36).some(isConvolution), true);
    assertEquals(pathsOf(35).some(isConvolution), false);
  });
}

Deno.test("policies take the spaces of envs and the streams of compute", () => {
  const { observationSpace, actionSpace } = cartPole();
  const random = new RandomStream(0) satisfies RandomSource;
  const model = policies.actorCritic({
    observationSpace: observationSpace satisfies Space,
    actionSpace: actionSpace satisfies Space,
    network: "mlp",
  });
  const params = model.init(random) satisfies Params;
  assertEquals(Object.keys(params).includes("pi/head/kernel"), true);
});

Deno.test("spaces draw from either stream of random numbers", () => {
  for (
    const random of [
      new envs.SeededRandom(0) satisfies RandomSource,
      new RandomStream(0) satisfies RandomSource,
    ]
  ) {
    const space = envs.discrete(3);
    assertEquals(envs.contains(space, envs.sample(space, random)), true);
  }
});

Deno.test("SAC takes the scales of envs, and stacks as they say of themselves", async () => {
  const env = new envs.FrameStack(
    envs.makeVec("Pendulum-v1", { numEnvs: 2, maxEpisodeSteps: 7 }),
    { size: 3 },
  ) satisfies AgentSpaces;
  const { observationSpace, actionSpace, numEnvs } = env;
  const learned = async (spaces: AgentSpaces) => {
    const agent = new SAC(spaces, {
      config: {
        hiddenSizes: [8],
        batchSize: 8,
        bufferSize: 100,
        learningStarts: 20,
        nSteps: 2,
      },
      normalization: {
        observations: new envs.ObservationNormalizer(
          observationSpace,
        ) satisfies ObservationScale,
        rewards: new envs.RewardNormalizer(numEnvs) satisfies RewardScale,
      },
    });
    await training.train(agent, env, { totalTimesteps: 60, seed: 1 });
    const { experience, ...state } = agent.save() as
      & { experience: { replay: buffers.ReplayBufferState } }
      & Record<string, StateTree>;
    agent.close();
    const kept = experience.replay.fields.observations as Float32Array;
    return { state, numbers: kept.length };
  };
  const whole = await learned({ observationSpace, actionSpace, numEnvs });
  const shared = await learned(env);
  assertEquals([whole.numbers, shared.numbers], [60 * 9, 60 * 3]);
  assertEquals(shared.state, whole.state);
  // Other wrappers tell what is inside, those that change observations do not.
  const clipped = new envs.ClipReward(env);
  assertEquals(clipped.stackedFrames, 3);
  assertEquals(new envs.FlattenObservation(env).stackedFrames, undefined);
  assertEquals(new envs.NormalizeObservation(env).stackedFrames, undefined);
  const zeros = new envs.FrameStack(cartPole(), { padding: "zero" });
  assertEquals(zeros.stackedFrames, undefined);
});

const number = { shape: [], dtype: "float32" } as const;
const flag = { shape: [], dtype: "uint8" } as const;
const fields = { reward: number, terminated: flag, truncated: flag };

/** Steps in a row, the last of which ends an episode. */
function steps(count: number) {
  const last = (_: unknown, step: number) => step === count - 1 ? 1 : 0;
  return {
    reward: Float32Array.from({ length: count }, (_, step) => step),
    terminated: Uint8Array.from({ length: count }, last),
    truncated: new Uint8Array(count),
  };
}

Deno.test("buffers draw from either stream of random numbers", () => {
  const buffer = new buffers.PrioritizedReplayBuffer({ capacity: 9, fields });
  buffer.addBatch(steps(9), 9);
  const rollout = new buffers.RolloutBuffer({
    numEnvs: 9,
    numSteps: 1,
    fields,
  });
  rollout.add(steps(9));
  for (
    const random of [
      new RandomStream(0) satisfies buffers.Random,
      new envs.SeededRandom(0) satisfies buffers.Random,
    ]
  ) {
    assertEquals(
      new Set(buffer.sample(random, { size: 90 }).slots),
      new Set(buffer.slots()),
    );
    const rows = [...rollout.minibatches(random, 4)].flatMap((it) => [...it]);
    assertEquals(rows.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  }
});

Deno.test("states of buffers are state trees", () => {
  const { RolloutBuffer, ReplayBuffer } = buffers;
  const { PrioritizedReplayBuffer, SequenceReplayBuffer } = buffers;
  const options = {
    capacity: 4,
    fields,
    episodes: { next: { nextReward: "reward" } },
  };
  const segments = { capacity: 6, numSteps: 3, fields };
  const onPolicy = { numEnvs: 3, numSteps: 2, fields };

  const rollout = new RolloutBuffer(onPolicy);
  rollout.add(steps(3));
  const replay = new ReplayBuffer(options);
  replay.addBatch({ ...steps(6), nextReward: steps(6).reward }, 6);
  const prioritized = new PrioritizedReplayBuffer(options);
  prioritized.addBatch({ ...steps(2), nextReward: steps(2).reward }, 2);
  prioritized.updatePriorities([0, 1], [3, 5]);
  const sequences = new SequenceReplayBuffer(segments);
  sequences.add(steps(3));

  const saved = {
    rollout: rollout.save() satisfies StateTree,
    replay: replay.save() satisfies StateTree,
    prioritized: prioritized.save() satisfies StateTree,
    sequences: sequences.save() satisfies StateTree,
  };
  const copy = structuredClone(saved) as typeof saved;
  const again = [
    [new RolloutBuffer(onPolicy), copy.rollout],
    [new ReplayBuffer(options), copy.replay],
    [new PrioritizedReplayBuffer(options), copy.prioritized],
    [new SequenceReplayBuffer(segments), copy.sequences],
  ] as const;
  for (const [buffer, state] of again) buffer.load(state as never);
  const [[a], [b], [c], [d]] = again;
  assertEquals(
    [a.save(), b.save(), c.save(), d.save()],
    [saved.rollout, saved.replay, saved.prioritized, saved.sequences],
  );
});
