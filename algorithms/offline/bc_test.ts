import { Agent } from "@bellman/agent";
import { Dataset } from "@bellman/buffers/datasets";
import { selectBackend } from "@bellman/compute";
import * as tf from "@bellman/compute/tf";
import { bc, type BcConfig } from "@bellman/offline";
import { train } from "@bellman/training";
import type { Episode, Space } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";

await selectBackend("cpu");

const SEEN: Space = {
  type: "box",
  shape: [2],
  low: -1,
  high: 1,
  dtype: "float32",
};

/** Numbers from a fixed row, between -1 and 1. */
function numbers(count: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = state * 16807 % 2147483647;
    return 2 * state / 2147483647 - 1;
  });
}

/** Episodes of 20 steps by a rule from observations to actions. */
function episodesOf(
  rule: (x: number, y: number) => number[],
  { masks }: { masks?: (x: number, y: number) => number[] } = {},
): Episode[] {
  return Array.from({ length: 20 }, (_, i) => {
    const observations = numbers(42, i + 1);
    const rows = Array.from(
      { length: 21 },
      (_, t) => [observations[2 * t], observations[2 * t + 1]] as const,
    );
    return {
      observations,
      actions: rows.slice(0, 20).flatMap(([x, y]) => rule(x, y)),
      rewards: new Float64Array(20),
      terminations: new Uint8Array(20),
      truncations: new Uint8Array(20).fill(1, 19),
      ...masks && { actionMasks: rows.flatMap(([x, y]) => masks(x, y)) },
    };
  });
}

function agentOf(
  actionSpace: Space,
  episodes: Episode[],
  config: Partial<BcConfig> = {},
) {
  const data = new Dataset(episodes, { observationSpace: SEEN, actionSpace });
  const masked = episodes[0].actionMasks !== undefined;
  return new Agent(bc, {
    ...{ observationSpace: SEEN, actionSpace, numEnvs: 1 },
    ...masked && { actionMasks: true },
  }, {
    data,
    config: { hiddenSizes: [32], batchSize: 64, learningRate: 0.01, ...config },
    engine: "eager",
    seed: 3,
  });
}

/** Trains, and returns the last statistics. */
async function learned(
  agent: ReturnType<typeof agentOf>,
  totalTimesteps: number,
): Promise<Record<string, number>> {
  let last: Record<string, number> = {};
  await train(agent, null, {
    totalTimesteps,
    callbacks: [{ onUpdate: (_, it) => void (last = { ...it }) }],
  });
  return last;
}

Deno.test("actions of every space are cloned", async () => {
  const cases: [Space, (x: number, y: number) => number[]][] = [
    [
      { type: "discrete", n: 3, start: 1 },
      (x) => [x < -0.3 ? 1 : x < 0.3 ? 2 : 3],
    ],
    [
      { type: "multiDiscrete", nvec: [2, 3] },
      (x, y) => [x > 0 ? 1 : 0, y < 0 ? 2 : 0],
    ],
    [{ type: "multiBinary", n: 2 }, (x, y) => [x > 0 ? 1 : 0, y > 0 ? 1 : 0]],
  ];
  for (const [space, rule] of cases) {
    const agent = agentOf(space, episodesOf(rule));
    const { heldout_accuracy, heldout_loss, loss } = await learned(agent, 201);
    assert(heldout_accuracy > 0.9, `${space.type}: ${heldout_accuracy}`);
    assert(heldout_loss < 0.6 && loss < 0.6, `${heldout_loss}, ${loss}`);
    agent.close();
  }
});

Deno.test("box actions are cloned in the units of each policy", async () => {
  const space: Space = {
    type: "box",
    shape: [2],
    low: [-2, 0],
    high: [2, 10],
    dtype: "float32",
  };
  const episodes = episodesOf((x, y) => [1.5 * x, 5 + 4 * y]);
  for (const policy of ["actorCritic", "squashed", "deterministic"] as const) {
    const agent = agentOf(space, episodes, { policy });
    const { heldout_loss } = await learned(agent, 301);
    assert(Number.isFinite(heldout_loss));
    const actor = agent.policy({ deterministic: true });
    const [a, b] = actor.act(Float32Array.of(0.4, -0.5)) as Float32Array;
    assertAlmostEquals(a, 0.6, 0.3, policy);
    assertAlmostEquals(b, 3, 0.8, policy);
    agent.close();
  }
});

Deno.test("forbidden actions have no part in a clone", async () => {
  // The rule is "the only action that is allowed".
  const space: Space = { type: "discrete", n: 2 };
  const allowed = (x: number) => x > 0 ? [1, 0] : [0, 1];
  const agent = agentOf(
    space,
    episodesOf((x) => [x > 0 ? 0 : 1], { masks: allowed }),
  );
  const { loss, heldout_loss } = await learned(agent, 1);
  assertAlmostEquals(loss, 0, 1e-6);
  assertAlmostEquals(heldout_loss, 0, 1e-6);
  agent.close();
});

Deno.test("a recurrent clone remembers the first observation of an episode", async () => {
  const space: Space = { type: "discrete", n: 2 };
  const episodes = Array.from({ length: 40 }, (_, i): Episode => {
    const sign = i % 2 === 0 ? 1 : -1;
    const observations = new Float32Array(2 * 9);
    observations[0] = sign;
    return {
      observations,
      actions: new Int32Array(8).fill(sign > 0 ? 1 : 0),
      rewards: new Float64Array(8),
      terminations: new Uint8Array(8).fill(1, 7),
      truncations: new Uint8Array(8),
    };
  });
  const options = { network: "lstm", lstmSize: 16, numSteps: 8 } as const;
  const agent = agentOf(space, episodes, { ...options, batchSize: 128 });
  const { loss } = await learned(agent, 120);
  // Sequences that start inside of an episode cannot know.
  assert(loss < 0.45, `${loss}`);
  const actor = agent.policy({ deterministic: true });
  const zeros = new Uint8Array(1);
  for (const sign of [1, -1]) {
    actor.endEpisodes?.();
    const actions = [sign, 0, 0, 0, 0, 0].map((x) => {
      const [action] = actor.act(Float32Array.of(x, 0));
      actor.observe?.({ terminated: zeros, truncated: zeros } as never);
      return action;
    });
    assertEquals(new Set(actions), new Set([sign > 0 ? 1 : 0]));
  }
  agent.close();
});

Deno.test("a restored clone goes on bit for bit, and with its data alone", async () => {
  const space: Space = { type: "discrete", n: 2 };
  const episodes = episodesOf((x) => [x > 0 ? 1 : 0]);
  const steps = (agent: ReturnType<typeof agentOf>, count: number) => {
    for (let i = 0; i < count; i++) {
      agent.advance!();
      agent.update();
    }
  };
  const whole = agentOf(space, episodes);
  steps(whole, 130);
  const state = structuredClone(whole.save());
  steps(whole, 130);
  const other = agentOf(space, episodes);
  other.load(state);
  steps(other, 130);
  assertEquals(other.save(), whole.save());
  const changed = agentOf(space, episodesOf((x) => [x > 0.01 ? 1 : 0]));
  assertThrows(() => changed.load(state), TypeError, "with other data");
  await Promise.resolve();
  for (const it of [whole, other, changed]) it.close();
});

Deno.test("updates leave no tensors", () => {
  const agent = agentOf(
    { type: "discrete", n: 2 },
    episodesOf((x) => [x > 0 ? 1 : 0]),
  );
  const counts = [150, 300].map((count) => {
    for (let i = 0; i < count; i++) {
      agent.advance!();
      agent.update();
    }
    return tf.memory().numTensors;
  });
  assertEquals(counts[1], counts[0]);
  agent.close();
});

Deno.test("what cannot be cloned is one line", () => {
  const space: Space = { type: "discrete", n: 2 };
  const episodes = episodesOf((x) => [x > 0 ? 1 : 0]);
  assertThrows(
    () => agentOf(space, episodes, { policy: "deterministic" }),
    TypeError,
    "expected box actions",
  );
  assertThrows(
    () => agentOf(space, episodes, { network: "lstm", numSteps: 7 }),
    RangeError,
    "numSteps = 7: expected a divisor of 64",
  );
  const agent = new Agent(bc, {
    ...{ observationSpace: SEEN, actionSpace: space, numEnvs: 1 },
  }, { engine: "eager" });
  agent.advance!();
  assertThrows(() => agent.update(), TypeError, "Cannot learn without data");
  agent.close();
});
