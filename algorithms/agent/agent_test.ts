import { RandomStream, selectBackend } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import { make, makeVec, NormalizeObservation } from "@bellman/envs";
import type { StateTree, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import {
  Agent,
  type AgentOptions,
  type Algorithm,
  type AnyParts,
  type AnyUpdate,
  type BuildContext,
  Rollout,
  type UpdateResult,
} from "./mod.ts";
import {
  counting,
  type CountingConfig,
  type Trace,
} from "./testdata/counting.ts";
import { GivenScale } from "./testdata/given_scale.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

await selectBackend("cpu");

const SPACES = {
  observationSpace: {
    type: "box",
    shape: [2],
    low: -1,
    high: 1,
    dtype: "float32",
  },
  actionSpace: { type: "discrete", n: 2 },
  numEnvs: 2,
} as const;

type Options = AgentOptions<CountingConfig>;

function agentOf(
  config: Partial<CountingConfig> = {},
  { trace, ...options }: Options & { trace?: Trace } = {},
): Agent<CountingConfig> {
  return new Agent(counting(trace), SPACES, { seed: 1, config, ...options });
}

/** Parts that replace those of the algorithm that counts. */
function withParts(
  replace: (
    parts: AnyParts,
    update: AnyUpdate,
    context: BuildContext,
  ) => Partial<AnyParts>,
): Algorithm<CountingConfig> {
  const algorithm = counting();
  return {
    ...algorithm,
    build(config, context) {
      const parts = algorithm.build(config, context);
      const update = parts.learn({ steps: 0, updates: 0, fraction: 0 });
      return { ...parts, ...replace(parts, update, context) };
    },
  };
}

/** Adds 1000 to the sum of an update. */
function withThousand(made: UpdateResult): UpdateResult {
  const sum = tf.add(made.state.count.sum, 1000);
  const count = { ...made.state.count, sum };
  return { ...made, state: { ...made.state, count } };
}

/** Steps an agent and returns all that it did. */
function play(agent: Agent<CountingConfig>, from: number, count: number) {
  const seen: unknown[] = [];
  for (let step = from; step < from + count; step++) {
    const observations = (offset: number) =>
      Float32Array.from({ length: 4 }, (_, i) => Math.sin(step + i + offset));
    seen.push([...agent.act(observations(0))]);
    agent.observe({
      observations: observations(1),
      finalObservations: observations(0.5),
      rewards: Float64Array.of(step, -1),
      terminated: Uint8Array.of(+(step % 3 === 0), 0),
      truncated: Uint8Array.of(0, +(step % 4 === 0)),
    });
    seen.push(agent.update());
  }
  return seen;
}

Deno.test("a rollout is learned from once, when it is complete", () => {
  const agent = agentOf({ numSteps: 2 });
  const seen = play(agent, 1, 6).filter((_, i) => i % 2 === 1);
  const stats = (rewards: number, sum: number, rest: object) => ({
    rewards,
    sum,
    ...rest,
  });
  assertEquals(seen, [
    undefined,
    stats(1 + 2 - 2, 0, { first_reward: 1, learning_rate: 0.5 }),
    undefined,
    stats(3 + 4 - 2, 1, { first_reward: 3, learning_rate: 0.25 }),
    undefined,
    stats(5 + 6 - 2, 6, { first_reward: 5, learning_rate: 0.5 / 3 }),
  ]);
  assertEquals([agent.updates, agent.steps], [3, 12]);
  agent.close();
});

Deno.test("replay learns in its rhythm, and tells of the last update", () => {
  const updates = (config: Partial<CountingConfig>) => {
    const agent = agentOf({ memory: "replay", ...config });
    const told = play(agent, 1, 6).filter((it) => it && !Array.isArray(it));
    agent.close();
    return [told.length, agent.updates];
  };
  // Two environments: 6 transitions are there after 3 steps.
  assertEquals(updates({}), [2, 2]);
  assertEquals(updates({ gradientSteps: 3 }), [2, 6]);
  assertEquals(updates({ gradientSteps: -1 }), [2, 8]);
});

Deno.test("of the updates that are due at once the last alone has statistics", () => {
  const algorithm = withParts((_, update) => {
    const quiet: AnyUpdate = (...given) => ({
      ...withThousand(update(...given)),
      stats: {},
    });
    return { learn: ({ isLast = true }) => isLast ? update : quiet };
  });
  const agent = new Agent(algorithm, SPACES, {
    config: { memory: "replay", gradientSteps: 3 },
  });
  const told = play(agent, 1, 6)
    .filter((it) => it && !Array.isArray(it)) as { sum: number }[];
  assertEquals(told.map(({ sum }) => Math.round(sum / 1000)), [2, 4]);
  assertEquals(agent.updates, 6);
  agent.close();
});

Deno.test("an update that comes in turn does more, also of a restored agent", () => {
  const algorithm = withParts((_, update) => {
    const full: AnyUpdate = (...given) => withThousand(update(...given));
    return { learn: ({ updates }) => updates % 3 === 1 ? full : update };
  });
  const [agent, other] = [1, 2].map(() => new Agent(algorithm, SPACES));
  const thousands = (
    agent: Agent<CountingConfig>,
    from: number,
    steps: number,
  ) =>
    play(agent, from, steps)
      .filter((it) => it && !Array.isArray(it))
      .map((it) => Math.round((it as { sum: number }).sum / 1000));
  assertEquals(thousands(agent, 0, 12), [0, 0, 1, 1]);
  other.load(agent.save());
  assertEquals(thousands(other, 12, 9), [1, 2, 2]);
  for (const it of [agent, other]) it.close();
});

Deno.test("each update is compiled once, the first one when an agent is made", () => {
  const asked: [updates: number, steps: number][] = [];
  const traced = { first: 0, other: 0 };
  const algorithm = withParts((_, update) => {
    const counted = (name: keyof typeof traced): AnyUpdate => (...given) => {
      traced[name]++;
      return update(...given);
    };
    const [first, other] = [counted("first"), counted("other")];
    return {
      learn({ updates, steps }) {
        asked.push([updates, steps]);
        return updates % 2 === 0 ? other : first;
      },
    };
  });
  const agent = new Agent(algorithm, SPACES, {
    config: { numSteps: 1 },
    engine: "onnx",
  });
  assertEquals(asked, [[-1, 0]]);
  assertEquals(traced.other, 0);
  const { first } = traced;
  assert(first > 0);
  play(agent, 1, 1);
  const { other } = traced;
  assert(other > 0);
  play(agent, 2, 4);
  assertEquals(traced, { first, other });
  const wanted = [0, 1, 2, 3, 4].map((it) => [it, 2 * (it + 1)]);
  assertEquals(asked.slice(1), wanted);
  agent.close();
});

Deno.test("each statistic keeps its last value over all updates", () => {
  const algorithm = withParts((_, update) => {
    const first: AnyUpdate = (...given) => ({
      ...update(...given),
      stats: { own: tf.scalar(7) },
    });
    return { learn: ({ updates }) => updates === 0 ? first : update };
  });
  const [agent, other] = [1, 2].map(() =>
    new Agent(algorithm, SPACES, { config: { numSteps: 1 } })
  );
  play(agent, 1, 1);
  other.load(structuredClone(agent.save()));
  const own = (agent: Agent<CountingConfig>) =>
    (play(agent, 2, 1).at(-1) as { own: number; rewards: number }).own;
  assertEquals([own(agent), own(other)], [7, 7]);
  for (const it of [agent, other]) it.close();
});

Deno.test("a state without statistics is restored whole", () => {
  const [agent, other] = [agentOf(), agentOf()];
  play(agent, 1, 4);
  const { statistics, ...state } = agent.save() as Record<string, StateTree>;
  assert(statistics !== undefined);
  other.load(state);
  assertEquals(other.save(), state);
  for (const it of [agent, other]) it.close();
});

Deno.test("random numbers are drawn for those updates alone that ask for them", () => {
  const numbersOf = (isDrawn: (updates: number) => boolean, steps: number) => {
    const none = { data: new Float32Array(6), shape: [6, 1] };
    const algorithm = withParts((_, full) => {
      const update: AnyUpdate = (state, batch, inputs) =>
        full(state, batch, { ...inputs, noise: tf.ones([1]) });
      return {
        learn: ({ updates }) => updates === 2 ? full : update,
        inputs: ({ updates }, draw) => ({
          learningRate: 0.5,
          noise: isDrawn(updates) ? draw({ kind: "normal", size: 1 }, 6) : none,
        }),
      };
    });
    const agent = new Agent(algorithm, SPACES);
    play(agent, 0, steps);
    const { params } = agent;
    agent.close();
    return params;
  };
  // The third update takes the first noise that is drawn, or the third.
  const third = (updates: number) => updates === 2, all = () => true;
  assertEquals(numbersOf(third, 6), numbersOf(all, 6));
  assertNotEquals(numbersOf(third, 12), numbersOf(all, 12));
});

Deno.test("permutations order the numbers from 0, anew for each update", () => {
  const orders: number[][] = [];
  const algorithm = withParts((parts, update) => {
    const ordered: AnyUpdate = (state, batch, inputs) => {
      const rows = Object.fromEntries(
        [0, 1, 2, 3, 4].map((i) => [
          `order${i}`,
          tf.reshape(tf.slice(inputs.order, [1, i], [1, 1]), []),
        ]),
      );
      return { ...update(state, batch, inputs), stats: rows };
    };
    return {
      learn: () => ordered,
      inputs: (progress, draw) => ({
        ...parts.inputs(progress, draw),
        order: draw({ kind: "permutation", size: 5 }, 2),
      }),
    };
  });
  const agent = new Agent(algorithm, SPACES, { config: { numSteps: 1 } });
  for (const told of play(agent, 1, 4)) {
    if (Array.isArray(told)) continue;
    const numbers = Object.entries(told as Record<string, number>)
      .filter(([name]) => name.startsWith("order"))
      .map(([, it]) => it);
    assertEquals(numbers.toSorted(), [0, 1, 2, 3, 4]);
    orders.push(numbers);
  }
  assertNotEquals(orders[0], orders[1]);
  agent.close();
});

const KINDS: Readonly<Record<string, Partial<CountingConfig>>> = {
  "a rollout": {},
  "replay": { memory: "replay" },
  "replay of several steps by priorities": {
    memory: "replay",
    nSteps: 2,
    replay: "proportional",
  },
};

for (const [name, config] of Object.entries(KINDS)) {
  Deno.test(`a restored agent continues bit for bit: ${name}`, () => {
    const [first, second] = [agentOf(config), agentOf(config, { seed: 9 })];
    play(first, 1, 7);
    const state = structuredClone(first.save());
    const wanted = play(first, 8, 9);
    play(second, 1, 4);
    second.load(state);
    assertEquals(play(second, 8, 9), wanted);
    assertEquals(second.save(), first.save());
    first.close();
    second.close();
  });
}

Deno.test("parts explore at first, and refresh the state between updates", () => {
  const trace: Trace = { explored: 0, refreshed: [] };
  const agent = agentOf({ numSteps: 1 }, { trace });
  play(agent, 1, 5);
  const { learned } = agent.save() as {
    learned: { count: { refreshed: { data: Float32Array } } };
  };
  assertEquals(trace, { explored: 2, refreshed: [2, 4] });
  assertEquals(learned.count.refreshed.data, Float32Array.of(4));
  agent.close();
});

Deno.test("what follows an update reads state, statistics and results, and tells one line", () => {
  const lines: string[] = [], seen: unknown[] = [];
  const algorithm = withParts(() => ({
    afterUpdate({ progress: { updates }, statistics, results, read, notify }) {
      const [sum] = read().count.sum.data;
      const { rewards, first_reward, learning_rate } = statistics;
      seen.push([updates, sum, rewards, first_reward, learning_rate]);
      seen.push(results.tdErrors.slice());
      if (updates > 1) notify(`${updates} updates`);
      return undefined;
    },
  }));
  const agent = new Agent(algorithm, SPACES, {
    config: { numSteps: 1 },
    onNotice: (line) => lines.push(line),
  });
  play(agent, 3, 4);
  assertEquals(seen, [
    ...[[1, 2, 2, 3, 0.5], Float32Array.of(3, 1)],
    ...[[2, 2 + 3, 3, 4, 0.25], Float32Array.of(4, 1)],
    ...[[3, 5 + 4, 4, 5, 0.5 / 3], Float32Array.of(5, 1)],
    ...[[4, 9 + 5, 5, 6, 0.125], Float32Array.of(6, 1)],
  ]);
  assertEquals(lines, ["2 updates"]);
  agent.close();
});

Deno.test("exploration may overwrite parameters before the policy is asked", () => {
  const scales = [0, 100];
  const algorithm = withParts(({ state, policy }) => {
    const params = Object.entries(state.policy as Record<string, tf.Tensor>)
      .map(([path, it]) => [path, it.dataSync(), it.shape] as const);
    const last = Object.keys(policy.init(new RandomStream(1))).at(-1)!;
    assertMatch(last, /bias$/);
    return {
      explore: {
        act({ write, sample }) {
          const scale = scales.shift()!;
          const written = params.map(([path, data, shape]) => [path, {
            // The first action is far better, or the second one.
            data: path === last
              ? Float32Array.of(scale, 50)
              : data.map(() => 0),
            shape: [...shape],
          }]);
          write!({ policy: Object.fromEntries(written) });
          return sample();
        },
      },
    };
  });
  const agent = new Agent(algorithm, SPACES, { config: { numSteps: 9 } });
  const actions = play(agent, 1, 2).filter((it) => Array.isArray(it));
  assertEquals(actions, [[1, 1], [0, 0]]);
  agent.close();
});

Deno.test("the state of exploration is saved with the agent, and restored", () => {
  const make = () => {
    let acted = 0;
    const algorithm = withParts(() => ({
      explore: {
        act({ sample }) {
          acted++;
          return sample().fill(acted % 3 === 0 ? 1 : 0);
        },
        save: () => acted,
        load: (state) => void (acted = state as number),
      },
    }));
    return new Agent(algorithm, SPACES);
  };
  const [first, second] = [make(), make()];
  const actions = (agent: Agent<CountingConfig>, from: number) =>
    play(agent, from, 4).filter((it) => Array.isArray(it));
  play(first, 1, 4);
  second.load(structuredClone(first.save()));
  const wanted = actions(first, 5);
  assertEquals(actions(second, 5), wanted);
  assertEquals(wanted.flat().includes(1), true);
  first.close();
  second.close();
});

Deno.test("values of discrete actions are those of the present parameters", () => {
  const agent = agentOf({ numSteps: 1 });
  const before = agent.qValues!([0.1, 0.2]);
  play(agent, 1, 1);
  const after = agent.qValues!([0.1, 0.2]);
  assertEquals([before.length, after.length], [2, 2]);
  assert(before[0] !== after[0]);
  agent.close();
});

Deno.test("a file of the policy has the scale that is given, or else that of the agent", () => {
  const observations = new GivenScale(0, 0.5, SPACES.observationSpace);
  const agent = agentOf({}, { normalization: { observations } });
  const { scaling } = observations;
  const own = agent.exportPolicy();
  assertEquals(agent.exportPolicy({ scaling }), own);
  const other = { mean: [1, 2], variance: [4, 9] };
  assertEquals(
    agent.exportPolicy({ scaling: other }),
    agentOf({}).exportPolicy({ scaling: other }),
  );
  assertNotEquals(agent.exportPolicy({ scaling: other }), own);
  agent.close();
});

Deno.test("scales are applied when it acts and when it draws", () => {
  const observations = new GivenScale(0, 0.5, SPACES.observationSpace);
  const rewards = new GivenScale(0, 2);
  const config = { memory: "replay" } as const;
  const scaled = agentOf(config, { normalization: { observations, rewards } });
  const plain = agentOf(config);
  const [halves, wholes] = [scaled, plain].map((agent) =>
    play(agent, 1, 4).at(-1) as { rewards: number }
  );
  assertAlmostEquals(halves.rewards, wholes.rewards / 2, 1e-6);
  assertEquals([observations.seen, rewards.seen], [16, 8]);
  assertThrows(
    () => plain.load(scaled.save()),
    TypeError,
    "Cannot restore an agent of Counting that does not scale observations from one that does",
  );
  assertEquals(
    scaled.qValues!([0.1, 0.2], [])[0] === plain.qValues!([0.1, 0.2], [])[0],
    false,
  );
  scaled.close();
  plain.close();
});

Deno.test("settings out of their range are one line, before anything is built", () => {
  const refused = (config: Partial<CountingConfig>, message: string) =>
    assertThrows(() => agentOf(config), Error, message);
  refused({ numSteps: 0 }, "Counting with numSteps = 0: expected an integer");
  refused({ learningRate: 0 }, "learningRate = 0: expected a number above 0");
  refused(
    { gradientSteps: 0 },
    "gradientSteps = 0: expected",
  );
  refused({ gradientSteps: -2 }, "gradientSteps = -2");
  refused({ memory: "replay", numSteps: 4 }, "numSteps and memory: replay");
  assertThrows(
    () => new Agent(counting(), { ...SPACES, numEnvs: 1.5 }),
    RangeError,
    "Cannot run Counting with numEnvs = 1.5",
  );
});

Deno.test("something else cannot be restored", () => {
  const agent = agentOf();
  for (const state of [null, 3, { learned: {} }]) {
    assertThrows(
      () => agent.load(state),
      TypeError,
      "expected what save() gave",
    );
  }
  agent.close();
});

for (const engine of ["onnx", "eager"] as const) {
  Deno.test(`an update that lacks a tensor names its line (${engine})`, () => {
    const learn: AnyUpdate = (state, { returns }) => {
      return { state, stats: { sum: tf.sum(returns) } };
    };
    const { meta, ...algorithm } = withParts(() => ({ learn: () => learn }));
    const wrong = { ...algorithm, meta: { ...meta, title: "Wrong" } };
    const error = assertThrows(() => {
      play(new Agent(wrong, SPACES, { engine }), 0, 8);
    }, TypeError);
    assertMatch(
      error.message,
      /^Cannot (run|compile) the update of Wrong at agent_test\.ts:\d+: .* but got 'null'; the batch has observations, /,
    );
  });
}

Deno.test("weights alone are taken from another agent, and the rest stays", () => {
  const [agent, other, third] = [1, 2, 3].map((seed) => agentOf({}, { seed }));
  play(other, 0, 9);
  const stateOf = (it: typeof agent) => it.save() as Record<string, StateTree>;
  const { learned: _, ...before } = stateOf(agent);
  assertEquals(agent.loadWeights(other.save()), []);
  const { learned, ...after } = stateOf(agent);
  assertEquals([learned, after], [stateOf(other).learned, before]);
  // Parts that do not fit stay, and are named.
  const own = stateOf(third).learned as Record<string, StateTree>;
  const { policy, count } = learned as Record<string, StateTree>;
  assertEquals(third.loadWeights({ learned: { policy } }), ["count"]);
  assertEquals(stateOf(third).learned, { policy, count: own.count });
  assertNotEquals(count, own.count);
  const others = { weight: { data: new Float32Array(3), shape: [3] } };
  const observations = new GivenScale(0, 0.5, SPACES.observationSpace);
  const scaled = agentOf({}, { normalization: { observations } });
  assertRefused({
    "TypeError: Cannot start Counting from something else: expected what save() of an agent gave":
      () => agent.loadWeights(null),
    "TypeError: Cannot start Counting from another policy, which has ": () =>
      agent.loadWeights({ learned: { policy: others } }),
    "TypeError: Cannot restore an agent of Counting that does not scale observations from one that does: expected the same normalization":
      () => agent.loadWeights(scaled.save()),
  });
  // Actors say for how many environments they are.
  for (const it of [agent, scaled]) {
    assertEquals(it.policy({ numEnvs: 5 }).numEnvs, 5);
    assertEquals(it.policy().numEnvs, 2);
  }
  for (const it of [agent, other, third, scaled]) it.close();
});

Deno.test("a single environment given to an agent is told with what mends it", () => {
  assertRefused({
    "TypeError: Cannot make an agent of Counting without numEnvs, which a single environment lacks: expected makeVec(id, { numEnvs: 1 }), or new SyncVecEnv([() => env])":
      () => new Agent(counting(), make("CartPole-v1") as never),
  });
});

Deno.test("arguments that are none are told with what was meant", () => {
  const of = (...given: unknown[]) => () =>
    new Agent(...given as ConstructorParameters<typeof Agent>);
  const agent = agentOf();
  assertRefused({
    "TypeError: Cannot make an agent without an algorithm: expected one as a2c of @bellman/a2c is":
      of(Agent, SPACES),
    "TypeError: Cannot make an agent of Counting without an environment: expected one of makeVec(id, { numEnvs: 8 })":
      of(counting()),
    "TypeError: Unknown option 'sede' of an agent: did you mean 'seed'?": of(
      counting(),
      SPACES,
      { sede: 1 },
    ),
    "TypeError: Unknown option 'numSteps' of an agent: it is a setting of Counting, as in { config: { numSteps } }":
      of(counting(), SPACES, { numSteps: 4 }),
    "TypeError: Cannot take null as the options of an agent": of(
      counting(),
      SPACES,
      null,
    ),
    "TypeError: Cannot run Counting with the config 5: expected an object of settings":
      of(counting(), SPACES, { config: 5 }),
    "TypeError: Unknown option 'deterministc' of an actor: did you mean 'deterministic'?":
      () => agent.policy({ deterministc: true } as never),
  });
  agent.close();
});

Deno.test("an agent says once that its learning rate has fallen to 0", () => {
  const lines: string[] = [];
  const ends = withParts((parts) => ({
    inputs: (progress, draw) => ({
      ...parts.inputs(progress, draw),
      learningRate: 1 - progress.fraction,
    }),
  }));
  const agent = new Agent(ends, SPACES, {
    totalTimesteps: 8,
    onNotice: (line) => lines.push(line),
  });
  play(agent, 0, 4);
  assertEquals(lines, []);
  play(agent, 4, 8);
  assertEquals(lines, [
    "Counting learns nothing more: its learning rate falls to 0 within 8 steps; totalTimesteps of the agent gives it more, or learningRateSchedule: constant",
  ]);
  agent.close();
});

Deno.test("targets that lack an input of the rollout are refused", () => {
  const wrong = withParts(({ policy }, _, context) => ({
    memory: new Rollout(context, policy, {
      numSteps: 3,
      inputs: ["rewards"],
      targets: ({ rewards }) => ({ inputs: { reward: rewards } }),
    }),
  }));
  assertThrows(
    () => play(new Agent(wrong, SPACES), 0, 8),
    TypeError,
    "Cannot learn from a rollout without 'rewards', which its inputs name: targets gives reward",
  );
});

Deno.test("a file of the policy has the present scale of the environment", () => {
  const env = new NormalizeObservation(
    makeVec("CartPole-v1", { numEnvs: 2 }),
  );
  const agent = new Agent(counting(), env, { seed: 1 });
  env.reset({ seed: 1 });
  const { scaling } = env.normalizer;
  assertEquals(agent.exportPolicy(), agent.exportPolicy({ scaling }));
  const before = agent.exportPolicy();
  env.step(new Int32Array(2));
  assertNotEquals(agent.exportPolicy(), before);
  agent.close();
});

const MASKED = { ...SPACES, actionMasks: true };

/** An agent in two environments, of which each allows one action in turn. */
function maskedAgent(config: Partial<CountingConfig> = {}) {
  return new Agent(counting(), MASKED, { seed: 1, config });
}

Deno.test("an agent chooses what masks allow, and its actors do", () => {
  const agent = maskedAgent({ numSteps: 100 });
  const actors = [
    agent.policy(),
    agent.policy({ deterministic: true }),
    new Agent(counting(), MASKED, {
      normalization: {
        observations: new GivenScale(0, 1, SPACES.observationSpace),
      },
    }).policy(),
  ];
  for (let step = 0; step < 8; step++) {
    const first = step % 2;
    const masks = Uint8Array.of(1 - first, first, first, 1 - first);
    const chosen = agent.act(new Float32Array(4), masks);
    // Environments may write to theirs before the step is recorded.
    masks.fill(1);
    assertEquals([...chosen], [first, 1 - first]);
    agent.observe(stepWith({ actionMasks: masks, finalActionMasks: masks }));
    for (const actor of actors) {
      const own = Uint8Array.of(first, 1 - first, 1 - first, first);
      const actions = actor.act(new Float32Array(4), own);
      assertEquals([...actions], [1 - first, first]);
    }
  }
  agent.close();
});

/** A step in which one episode is truncated. */
function stepWith(masks: Partial<VecStep>): VecStep {
  return {
    observations: new Float32Array(4),
    finalObservations: new Float32Array(4),
    rewards: new Float64Array(2),
    terminated: new Uint8Array(2),
    truncated: Uint8Array.of(0, 1),
    ...masks,
  };
}

Deno.test("masks are asked for where actions are masked, and there alone", () => {
  const agent = maskedAgent(), plain = agentOf(), seen = new Float32Array(4);
  const four = new Uint8Array(4).fill(1);
  const says = (call: () => unknown, text: string) => {
    const { message } = assertThrows(call, TypeError, text);
    assertEquals(message.includes("\n"), false);
  };
  says(() => agent.act(seen), "without action masks: expected 4 numbers");
  says(
    () => agent.act(seen, new Uint8Array(3)),
    "by action masks of 3 numbers: expected 4",
  );
  says(() => agent.policy().act(seen), "without action masks");
  says(
    () => plain.act(seen, four),
    "action masks of 4 numbers: expected none, as the agent was made for environments without masks",
  );
  const wrong = (masks: number[], text: string) => {
    for (const it of [agent, agent.policy()]) {
      assertThrows(
        () => it.act(seen, Uint8Array.from(masks)),
        RangeError,
        text,
      );
    }
  };
  wrong(
    [1, 0, 0, 0],
    "Cannot choose the action of environment 1: the action masks allow none of 2 choices, expected 1 for at least one",
  );
  wrong(
    [1, 0, 2, 1],
    "Cannot choose actions: actionMasks[2] is 2, expected 0 or 1",
  );
  agent.save(); // nothing was decided
  const { actionSpace } = { actionSpace: SPACES.observationSpace };
  says(
    () => new Agent(counting(), { ...MASKED, actionSpace }),
    "Cannot mask box actions: expected",
  );
  const keeping = maskedAgent({ memory: "replay" });
  keeping.act(seen, four);
  says(
    () => keeping.observe(stepWith({})),
    "Cannot record a step without actionMasks: expected 2 numbers for each environment, as actions are masked",
  );
  for (const it of [agent, plain, keeping]) it.close();
});

Deno.test("a masked environment needs nothing said", () => {
  const env = makeVec("Identity-v0", {
    numEnvs: 3,
    kwargs: { masked: true, actionSpace: { type: "discrete", n: 5 } },
  });
  const agent = new Agent(counting(), env, { seed: 2, config: {} });
  env.reset({ seed: 1 });
  for (let i = 0; i < 200; i++) {
    const masks = env.actionMasks!.slice();
    const actions = agent.act(env.observations(), env.actionMasks);
    actions.forEach((it, row) => assertEquals(masks[5 * row + it], 1));
    agent.observe(env.step(actions));
    agent.update();
  }
  agent.close();
});

Deno.test("an input that is nothing is named", () => {
  const algorithm = counting();
  const without: typeof algorithm = {
    ...algorithm,
    build: (config, context) => ({
      ...algorithm.build(config, context),
      inputs: () => ({ learningRate: undefined as never }),
    }),
  };
  assertThrows(
    () => new Agent(without, SPACES),
    TypeError,
    "Cannot learn with undefined as the input 'learningRate': expected a number, or what draw gave",
  );
});

Deno.test("parts that cannot be are refused in one line each", () => {
  const algorithm = counting();
  type Built = ReturnType<typeof algorithm.build>;
  const told = (change: (parts: Built) => object) => () => {
    const agent = new Agent({
      ...algorithm,
      build: (config, context) =>
        change(algorithm.build(config, context)) as Built,
    }, SPACES);
    for (let step = 0; step < 6; step++) {
      agent.act(new Float32Array(4));
      agent.observe(stepWith({}));
      agent.update();
    }
  };
  const without = (name: string) =>
    told((parts) => ({ ...parts, [name]: undefined }));
  const inputs = (made: object) =>
    told((parts) => ({
      ...parts,
      inputs: (...given: Parameters<Built["inputs"]>) => ({
        ...parts.inputs(...given),
        ...made,
      }),
    }));
  const cases: Record<string, () => void> = {
    "build gave no policy": without("policy"),
    "the state has no part 'policy'": without("state"),
    "build gave no memory": without("memory"),
    "inputs is no function": without("inputs"),
    "learn is no function": without("learn"),
    "did you mean 'afterUpdate'?": told((parts) => ({
      ...parts,
      afterUpdte: () => undefined,
    })),
    "learn of Counting returned undefined, expected a function": told(
      (parts) => ({ ...parts, learn: () => undefined }),
    ),
    "learn of Counting has returned 8 functions and returns another": told(
      (parts) => ({
        ...parts,
        learn: (...given: Parameters<Built["learn"]>) => {
          const update = parts.learn(...given);
          return (...all: Parameters<typeof update>) => update(...all);
        },
        memory: Object.assign(parts.memory, { ready: () => 9 }),
      }),
    ),
    "returned no state: expected { state, stats }": told((parts) => ({
      ...parts,
      learn: () => () => ({}),
    })),
    "'null'; the batch has observations, actions, rewards": told((parts) => ({
      ...parts,
      learn: () => (_state: unknown, batch: tf.NamedTensorMap) => ({
        state: {},
        stats: { reward: tf.sum(tf.abs(batch.reward)) },
      }),
    })),
    "'rewards' in the batch and in the inputs": inputs({ rewards: 1 }),
    "NaN as the input 'noise2'": told((parts) => {
      let calls = 0;
      return {
        ...parts,
        inputs: (...given: Parameters<Built["inputs"]>) => ({
          ...parts.inputs(...given),
          noise2: calls++ > 0 ? NaN : 0,
        }),
      };
    }),
    "ready of the memory asks for": told((parts) => ({
      ...parts,
      memory: Object.assign(parts.memory, { ready: () => 0.5 }),
    })),
    "Cannot act by 1 numbers that explore of Counting gave": told((parts) => ({
      ...parts,
      explore: { act: () => new Int32Array(1) },
    })),
  };
  for (const [says, run] of Object.entries(cases)) {
    assertThrows(run, Error, says);
  }
});

Deno.test("spaces that are none are refused before anything is built", () => {
  const make = (spaces: object) =>
    new Agent(counting(), { ...SPACES, ...spaces } as never);
  const cases: Record<string, object> = {
    "as a space: expected one with a known 'type'": {
      observationSpace: { type: "Box", shape: [2] },
    },
    "Cannot make a box of shape 2: expected a list of whole numbers": {
      observationSpace: { type: "box", shape: 2, dtype: "float32" },
    },
    "Cannot hold a box in 'undefined'": {
      observationSpace: { type: "box", shape: [2] },
    },
    "Cannot use null as a space": { actionSpace: null },
    "expected 'spaces' in it": { observationSpace: { type: "dict" } },
  };
  for (const [says, spaces] of Object.entries(cases)) {
    assertThrows(() => make(spaces), Error, says);
  }
});

Deno.test("a state without experience restores all but the memory", () => {
  const [agent, other] = [1, 2].map((seed) => agentOf({}, { seed }));
  play(agent, 0, 9);
  const { experience: _, ...acting } = agent.save() as Record<
    string,
    StateTree
  >;
  const { experience: kept } = other.save() as Record<string, StateTree>;
  other.load(acting);
  const { experience, ...restored } = other.save() as Record<string, StateTree>;
  assertEquals([restored, experience], [acting, kept]);
});
