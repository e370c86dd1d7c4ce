import { Agent } from "@bellman/agent";
import { Dataset } from "@bellman/buffers/datasets";
import { selectBackend } from "@bellman/compute";
import { iql, type IqlConfig } from "@bellman/offline";
import { train } from "@bellman/training";
import type { Episode, Space } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";

await selectBackend("cpu");

const ONE: Space = { type: "discrete", n: 1 };
const TWO: Space = { type: "discrete", n: 2 };

/** Episode of one state, of actions and rewards. */
function episode(
  actions: number[],
  rewards: number[],
  end: "terminated" | "truncated" = "terminated",
): Episode {
  const last = new Uint8Array(actions.length).fill(1, actions.length - 1);
  const none = new Uint8Array(actions.length);
  return {
    observations: new Int32Array(actions.length + 1),
    ...{ actions, rewards },
    terminations: end === "terminated" ? last : none,
    truncations: end === "terminated" ? none : last,
  };
}

function agentOf(
  actionSpace: Space,
  episodes: Episode[],
  config: Partial<IqlConfig> = {},
) {
  const data = new Dataset(episodes, {
    ...{ observationSpace: ONE, actionSpace, holdout: 0 },
  });
  return new Agent(iql, { observationSpace: ONE, actionSpace, numEnvs: 1 }, {
    data,
    config: {
      ...{ hiddenSizes: [16], batchSize: 32, learningRate: 0.01 },
      ...{ tau: 0.05, rewardScale: 1 },
      ...config,
    },
    engine: "eager",
    seed: 1,
  });
}

Deno.test("an end bootstraps if it is truncated, and not if it is terminated", async () => {
  for (const [end, value] of [["terminated", 1], ["truncated", 2]] as const) {
    // One action and one reward: Q is 1, or 1 / (1 - gamma).
    const agent = agentOf(TWO, [episode([0], [1], end)], { gamma: 0.5 });
    await train(agent, null, { totalTimesteps: 400 });
    assertAlmostEquals(agent.qValues!([0])[0], value, 0.05, end);
    agent.close();
  }
});

Deno.test("the value is the expectile of the data's Q-values", async () => {
  // Rewards of 0 and 1 for two actions, as often: the expectile e of them is e.
  for (const expectile of [0.5, 0.9]) {
    const agent = agentOf(TWO, [episode([0, 1, 0, 1], [0, 1, 0, 1])], {
      ...{ expectile, gamma: 0, beta: 0 },
    });
    let loss = NaN;
    await train(agent, null, {
      totalTimesteps: 600,
      callbacks: [{ onUpdate: (_, it) => void (loss = it.value_loss) }],
    });
    const [q0, q1] = agent.qValues!([0]);
    assertAlmostEquals(q0, 0, 0.05);
    assertAlmostEquals(q1, 1, 0.05);
    // At the expectile: e (1 - e)^2 of the one half and (1 - e) e^2 of the other.
    const least = expectile * (1 - expectile) / 2;
    assertAlmostEquals(loss, least, 0.03);
    agent.close();
  }
});

Deno.test("beta 0 clones, a large one takes the better action", async () => {
  // The worse action is taken three times as often.
  const data = [episode([0, 0, 0, 1], [0, 0, 0, 1])];
  for (const [beta, best] of [[0, 0], [10, 1]] as const) {
    const agent = agentOf(TWO, data, { beta, gamma: 0 });
    await train(agent, null, { totalTimesteps: 400 });
    const [action] = agent.policy({ deterministic: true }).act([0]);
    assertEquals(action, best);
    agent.close();
  }
});

Deno.test("box actions have the units of their space, and rewards a scale", async () => {
  const space: Space = {
    type: "box",
    shape: [1],
    low: 0,
    high: 10,
    dtype: "float32",
  };
  const actions = Array.from({ length: 101 }, (_, i) => i / 10);
  const rewards = actions.map((it) => -((it - 7) ** 2));
  const agent = agentOf(space, [
    episode(actions.slice(0, 50), rewards.slice(0, 50)),
    episode(actions.slice(50), rewards.slice(50)),
  ], { gamma: 0, rewardScale: "returnRange", hiddenSizes: [32] });
  let clipped = NaN;
  await train(agent, null, {
    totalTimesteps: 800,
    callbacks: [{ onUpdate: (_, it) => void (clipped = it.clipped_weights) }],
  });
  const [action] = agent.policy({ deterministic: true }).act([0]);
  assertAlmostEquals(action, 7, 0.8);
  assert(clipped >= 0 && clipped <= 1);
  agent.close();
});

Deno.test("a restored agent goes on bit for bit", () => {
  const make = () => agentOf(TWO, [episode([0, 1, 0, 1], [0, 1, 0, 1])]);
  const steps = (agent: ReturnType<typeof agentOf>, count: number) => {
    for (let i = 0; i < count; i++) {
      agent.advance!();
      agent.update();
    }
  };
  const whole = make(), other = make();
  steps(whole, 5);
  other.load(structuredClone(whole.save()));
  steps(whole, 5);
  steps(other, 5);
  assertEquals(other.save(), whole.save());
  whole.close();
  other.close();
});

Deno.test("what cannot be learned from is one line", () => {
  assertThrows(
    () => agentOf({ type: "multiBinary", n: 2 }, [episode([1, 0], [0])]),
    Error,
  );
  assertThrows(
    () => agentOf(TWO, [episode([0], [1])], { rewardScale: "returnRange" }),
    RangeError,
    "all 1 episodes have the return 1",
  );
  assertThrows(
    () =>
      new Agent(iql, {
        ...{ observationSpace: ONE, numEnvs: 1 },
        actionSpace: { type: "multiBinary", n: 2 },
      }),
    TypeError,
    "expected box or discrete ones, or BC, which clones any",
  );
});
