/** Everything that holds for agents of every algorithm, in each of its forms. */
import type { Agent, AgentSpaces, Arrays } from "@bellman/agent";
import { ALGORITHMS } from "@bellman/runs/settings";
import { LIVE_ALGORITHMS } from "../testdata/live_algorithms.ts";
import { selectBackend } from "@bellman/compute";
import { actionChoices, contains } from "@bellman/envs";
import { statisticTitle } from "@bellman/training";
import { plotQValues } from "@bellman/training/plots";
import type { Space, StateTree, Statistics } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  FRAMES,
  MadeUpEnv,
  type Played,
  spacesOf,
} from "../../algorithms/agent/testdata/made_up_env.ts";
import { agentOf, ALL_FORMS, type Form, formsOf, STEPS } from "./forms.ts";

await selectBackend("cpu");

/** Environments that allow one choice of each part of an action. */
class OneAllowed extends MadeUpEnv {
  override masksAt(time: number): Uint8Array {
    const choices = actionChoices(this.spaces.actionSpace)!;
    const masks = super.masksAt(time)!;
    for (let part = 0, at = 0; at < masks.length; part++) {
      const end = at + choices[part % choices.length];
      masks.fill(0, masks.indexOf(1, at) + 1, end);
      at = end;
    }
    return masks;
  }
}

/** Splits an array into rows, as texts. */
function rowsOf(numbers: ArrayLike<number>, size: number): string[] {
  const all = Array.from(numbers);
  return Array.from(
    { length: all.length / size },
    (_, row) => String(all.slice(row * size, (row + 1) * size)),
  );
}

/** Lists the masks of all observations up to a step, final ones included. */
function masksByObservation(
  env: MadeUpEnv,
  steps: number,
): Map<string, string> {
  const all = new Map<string, string>();
  for (let time = 0; time <= steps; time += 0.5) {
    const masks = env.masksAt(time)!, { numEnvs } = env.spaces;
    const rows = rowsOf(masks, masks.length / numEnvs);
    const seen = rowsOf(env.observationsAt(time), 3);
    seen.forEach((row, i) => all.set(row, rows[i]));
  }
  return all;
}

/** Tells whether each action lies in its space. */
function assertInside({ actions }: Played, { spaces }: Form): void {
  const { actionSpace, numEnvs } = spaces;
  for (const batch of actions) {
    const size = batch.length / numEnvs;
    for (let i = 0; i < numEnvs; i++) {
      const row = batch.slice(i * size, (i + 1) * size);
      const action = actionSpace.type === "discrete" ? row[0] : row;
      assert(contains(actionSpace, action as never), `${row}`);
    }
  }
}

for (const form of ALL_FORMS) {
  const { name, definition, spaces } = form;
  const isFrame = spaces === FRAMES;
  /** First updates of the compiled agent. */
  let compiled: Statistics[] | undefined;

  Deno.test(`${name}: what was saved goes on bit for bit`, () => {
    const engine = "onnx", atFirst = tf.memory().numTensors;
    const first = agentOf(form, { engine }), env = new MadeUpEnv(spaces);
    assertEquals(first.engine, engine);
    const before = env.play(first, STEPS), tensors = tf.memory().numTensors;
    const state = structuredClone(first.save());
    const going = env.play(first, STEPS - 1);
    compiled = [...before.updates, ...going.updates];
    assertInside(before, form);
    assert(going.updates.length > 1);
    for (const it of going.updates) {
      assert(Number.isFinite(it.loss ?? it.policy_loss), JSON.stringify(it));
      assertEquals(it.steps_skipped ?? 0, 0);
      for (const key in it) assertNotEquals(statisticTitle(key), key);
    }
    assertEquals(tf.memory().numTensors, tensors);
    const second = agentOf(form, { engine, seed: 99 });
    new MadeUpEnv(spaces).play(second, 7);
    second.load(state);
    assertEquals(new MadeUpEnv(spaces, STEPS).play(second, STEPS - 1), going);
    assertEquals(second.save(), first.save());
    first.close();
    second.close();
    assertEquals(tf.memory().numTensors, atFirst);
  });

  Deno.test(`${name}: an eager agent has the numbers of the compiled one, and keeps no tensors`, () => {
    compiled ??= new MadeUpEnv(spaces)
      .play(agentOf(form, { engine: "onnx" }), 2 * STEPS).updates;
    const atFirst = tf.memory().numTensors;
    const agent = agentOf(form), env = new MadeUpEnv(spaces);
    const { updates } = env.play(agent, isFrame ? 14 : 28);
    const before = tf.memory().numTensors;
    env.play(agent, isFrame ? 2 : 6);
    assertEquals(tf.memory().numTensors, before);
    agent.close();
    assertEquals(tf.memory().numTensors, atFirst);
    assert(updates.length > 0);
    updates.forEach((statistics, i) => {
      for (const key in statistics) {
        const found = compiled![i][key], wanted = statistics[key];
        const off = Math.abs(found - wanted) / (1 + Math.abs(wanted));
        assert(!(off > 1e-3), `${key} of update ${i}: ${found}, not ${wanted}`);
      }
    });
  });

  Deno.test(`${name}: the mode repeats itself, and leaves the agent as it was`, () => {
    const agent = agentOf(form), env = new MadeUpEnv(spaces);
    const before = agent.save();
    const actor = agent.policy({ deterministic: true });
    const seen = env.observations, { numEnvs } = spaces;
    const { actionMasks } = env;
    const first = actor.act(seen, actionMasks);
    actor.act(env.observationsAt(1), actionMasks);
    const all = new Uint8Array(numEnvs).fill(1);
    actor.observe({ terminated: all, truncated: new Uint8Array(numEnvs) });
    assertEquals(actor.act(seen, actionMasks), first);
    assertEquals(agent.save(), before);
    agent.close();
  });

  if (spaces.actionMasks) {
    Deno.test(`${name}: each observation is learned from with its own masks`, () => {
      const agent = agentOf(form), env = new MadeUpEnv(spaces);
      const steps = STEPS + 6, masks = masksByObservation(env, steps);
      const checked = new Set<string>();
      const { memory } = agent, sample = memory.sample.bind(memory);
      memory.sample = (...given) => {
        const sampled = sample(...given);
        const drawn = sampled.batch as Arrays;
        for (const prefix of ["", "next", "between"]) {
          const name = (rows: string) =>
            prefix === ""
              ? rows
              : prefix + rows[0].toUpperCase() + rows.slice(1);
          const observations = drawn[name("observations")];
          if (observations === undefined) continue;
          const rows = rowsOf(observations, 3),
            found = drawn[name("actionMasks")];
          const size = found.length / rows.length;
          // Rows that are not used are 0.
          for (const [i, row] of rowsOf(found, size).entries()) {
            const wanted = masks.get(rows[i]);
            if (wanted === undefined) assertEquals(rows[i], "0,0,0");
            else assertEquals(row, wanted);
            checked.add(rows[i]);
          }
        }
        return sampled;
      };
      env.play(agent, steps);
      assert(checked.size > 8);
      agent.close();
    });

    if (definition.meta.isGreedy) continue;
    Deno.test(`${name}: where one action is allowed, learning sees no entropy`, () => {
      const agent = agentOf(form), env = new OneAllowed(spaces);
      const { updates } = env.play(agent, STEPS + 6);
      assert(updates.length > 1);
      for (const { entropy } of updates) assertAlmostEquals(entropy, 0, 1e-5);
      agent.close();
    });
  }

  const { type } = spaces.actionSpace;
  const isDrawn = type === "box" || type === "discrete";
  if (definition.meta.hasReplay !== true || !isDrawn) continue;
  Deno.test(`${name}: its values are drawn, and it goes on as it was`, () => {
    // Images take long on the cpu backend.
    const agent = agentOf(form, { engine: isFrame ? "onnx" : "eager" });
    const env = new MadeUpEnv(spaces);
    env.play(agent, STEPS);
    const size = env.observations.length / spaces.numEnvs;
    const { actionSpace } = spaces;
    const observations = [0, 1].map((it) => new Float32Array(size).fill(it));
    const choices = env.actionMasks?.length ?? 0;
    const options = {
      actionSpace,
      observations,
      samples: 10,
      gridSize: 5,
      ...(choices > 0 && {
        actionMasks: [0, 1].map((env) =>
          new Uint8Array(choices / 2).fill(1, env)
        ),
      }),
    };
    const draw = () => plotQValues(agent as never, options);
    const state = structuredClone(agent.save());
    const svg = draw();
    assertEquals(agent.save(), state);
    assertEquals(draw(), svg);
    assertEquals(svg.match(/class="bp-panel"/g)?.length, 2);
    env.play(agent, 8);
    assertNotEquals(draw(), svg);
    agent.close();
  });
}

/** Forms whose old steps lie in files in more than one way. */
const IN_FILES = [
  "acer, discrete actions",
  "acer, by priorities",
  "acer, by ranks, box actions",
  "sac, two Q functions",
  "sac, proportional replay of several steps",
  "sac, replay by rank",
  "sac, discrete actions, returns of several steps",
  "sac, frames that are shared",
  "td3, noise that is a walk",
];

for (const form of ALL_FORMS.filter(({ name }) => IN_FILES.includes(name))) {
  const { name, spaces } = form;
  Deno.test(`${name}: with its old steps in a file it is the same, and goes on from any save`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "bellman-replay-" });
    // Older steps make room before the first save.
    const bufferSize = /^(sac|td3)/.test(name) ? 24 : 16;
    const inFile = (seed = 3) => {
      const config = { bufferSize, replayStorage: "file" };
      const agent = agentOf(form, { config, seed });
      agent.openReplay(`${folder}/replay.rows`);
      return agent;
    };
    const memory = agentOf(form, { config: { bufferSize } as object });
    const first = inFile();
    const envs = [new MadeUpEnv(spaces), new MadeUpEnv(spaces)];
    const wanted = envs[0].play(memory, 14);
    assertEquals(envs[1].play(first, 14), wanted);
    const state = structuredClone(first.save());
    const going = envs[0].play(memory, 8);
    assertEquals(envs[1].play(first, 8), going);
    first.save(); // the second one that is kept
    envs[1].play(first, 5);
    first.close(); // as good as a crash

    const second = inFile(99);
    second.load(state);
    assertEquals(new MadeUpEnv(spaces, 14).play(second, 8), going);
    const learnedOf = (agent: Agent) =>
      (agent.save() as { learned: StateTree }).learned;
    assertEquals(learnedOf(second), learnedOf(memory));
    // Without its rows it goes on with the buffer that there is.
    const rows = second.rows!;
    assert(rows.of(state) !== undefined);
    rows.close();
    assertThrows(
      () => second.save(),
      TypeError,
      "in a file: expected openReplay() of one before",
    );
    await Deno.remove(`${folder}/replay.rows`);
    rows.open(`${folder}/replay.rows`);
    assertThrows(() => second.load(state), SyntaxError, "Cannot read rows");
    second.load(rows.replaceIn(state));
    assertThrows(
      () => memory.openReplay(`${folder}/other.rows`),
      TypeError,
      "in a file: expected replayStorage: file",
    );
    const isFrame = spaces === FRAMES;
    new MadeUpEnv(spaces, isFrame ? 0 : 14).play(second, 4);
    memory.close();
    second.close();
    await Deno.remove(folder, { recursive: true });
  });
}

for (const definition of LIVE_ALGORITHMS) {
  const { name, title = name, statistics = {} } = definition.meta;
  const [form] = formsOf(definition), { spaces } = form;
  const { numEnvs } = spaces;

  Deno.test(`${name}: its own statistics are returned`, () => {
    const missing = new Set(Object.keys(statistics));
    for (const form of formsOf(definition)) {
      if (missing.size === 0) break;
      const agent = agentOf(form);
      const { updates } = new MadeUpEnv(form.spaces).play(agent, STEPS);
      for (const it of updates) {
        Object.keys(it).forEach((key) => missing.delete(key));
      }
      agent.close();
    }
    assertEquals([...missing], []);
  });

  Deno.test(`${name}: the same seed gives the same run, another seed another one`, () => {
    const [first, same, other] = [1, 1, 2].map((seed) => {
      const agent = agentOf(form, { seed });
      const played = new MadeUpEnv(spaces).play(agent, STEPS);
      agent.close();
      return played;
    });
    assertEquals(same, first);
    assertNotEquals(other, first);
  });

  for (const engine of ["onnx", "eager"] as const) {
    const steps = engine === "onnx" ? 300 : 100;
    Deno.test(`${name}: ${steps} steps keep the number of tensors, ${engine}`, () => {
      const agent = agentOf(form, { engine }), env = new MadeUpEnv(spaces);
      env.play(agent, 30);
      const before = tf.memory().numTensors;
      env.play(agent, steps);
      assertEquals(tf.memory().numTensors, before);
      agent.close();
    });
  }

  Deno.test(`${name}: what is not finite is refused, and nothing of it is taken in`, () => {
    const whole = agentOf(form), tried = agentOf(form);
    const env = new MadeUpEnv(spaces), other = new MadeUpEnv(spaces);
    const last = numEnvs - 1;
    for (let time = 1; time <= STEPS; time++) {
      env.play(whole, 1);
      const actions = tried.act(other.observations);
      const step = other.step(actions);
      const size = 3 * numEnvs - 1;
      const nan = Float32Array.from(step.observations as Float32Array)
        .fill(NaN, size);
      for (
        const parts of [
          { rewards: step.rewards.with(last, NaN) },
          { rewards: step.rewards.with(last, Infinity) },
          { rewards: step.rewards.with(last, 1e308) },
          { observations: nan },
          {
            finalObservations: nan,
            truncated: new Uint8Array(numEnvs).fill(1),
          },
        ]
      ) {
        assertThrows(
          () => tried.observe({ ...step, ...parts } as typeof step),
          RangeError,
          `of copy ${last} at step ${numEnvs * time}`,
        );
      }
      tried.observe(step);
      tried.update();
    }
    assertEquals(tried.save(), whole.save());
    assertThrows(
      () => tried.act(new Float32Array(3 * numEnvs).fill(NaN)),
      RangeError,
    );
    whole.close();
    tried.close();
  });

  Deno.test(`${name}: acting, observing and learning have their order`, () => {
    const agent = agentOf(form), env = new MadeUpEnv(spaces);
    assertEquals(agent.update(), undefined);
    assertThrows(() => agent.observe(env.step()), Error, "before act()");
    agent.act(env.observations);
    assertThrows(() => agent.save(), Error, "between act() and observe()");
    agent.observe(env.step());
    agent.save();
    agent.close();
  });

  Deno.test(`${name}: something else cannot be restored`, () => {
    const agent = agentOf(form);
    const other = agentOf(form, { config: { hiddenSizes: [9] } as object });
    const state = agent.save() as Record<string, StateTree>;
    const broken = { ...state, learned: { ...state.learned as object } };
    for (const it of [null, 3, { updates: 1 }]) {
      assertThrows(
        () => agent.load(it),
        TypeError,
        "expected what save() gave",
      );
    }
    assertThrows(() => other.load(broken), RangeError, "'state.policy.");
    assertEquals(agent.save(), state);
    agent.close();
    other.close();
  });

  Deno.test(`${name}: a state that is partly wrong changes nothing`, () => {
    const [agent, donor] = [1, 2].map((seed) => agentOf(form, { seed }));
    new MadeUpEnv(spaces).play(agent, 5);
    new MadeUpEnv(spaces).play(donor, 7);
    const before = agent.save();
    const state = donor.save() as Record<string, Record<string, StateTree>>;
    const { experience, acting } = state;
    const wrong: Record<string, StateTree>[] = [
      { random: null },
      { steps: "7" },
      { updates: -1 },
      { acting: { ...acting, starts: new Float32Array() } },
      { acting: { ...acting, random: 3 } },
      ...Object.entries(experience).map(([name, it]) => ({
        experience: { ...experience, [name]: it === null ? 3 : { [name]: 3 } },
      })),
      ...(state.exploration === null ? [] : [{ exploration: 3 }]),
    ];
    for (const part of wrong) {
      const what = JSON.stringify(Object.keys(Object.values(part)[0] ?? part));
      assertThrows(() => agent.load({ ...state, ...part }), Error, "", what);
      assertEquals(agent.save(), before, what);
    }
    agent.load(state);
    assertEquals(agent.save(), state);
    agent.close();
    donor.close();
  });

  Deno.test(`${name}: actions that it cannot choose are refused`, () => {
    const actionSpace: Space = { type: "tuple", spaces: [] };
    const error = assertThrows(
      () => agentOf({ ...form, spaces: { ...spaces, actionSpace } }),
      TypeError,
      "tuple",
    );
    assertEquals(error.message.includes("\n"), false);
  });

  Deno.test(`${name}: settings out of their ranges are one clear line`, () => {
    for (
      const [key, property] of Object.entries(definition.meta.schema.properties)
    ) {
      const { type, minimum, exclusiveMinimum, maximum } = property;
      const isWhole = [type].flat().includes("integer");
      const wrong = [
        ...(exclusiveMinimum === undefined ? [] : [exclusiveMinimum]),
        ...(minimum === undefined
          ? []
          : [minimum - Math.max(1, Math.abs(minimum))]),
        ...(maximum === undefined ? [] : [2 * maximum]),
        ...(isWhole ? [1.5] : []),
      ];
      for (const value of wrong) {
        assertThrows(
          () => agentOf(form, { config: { [key]: value } as object }),
          RangeError,
          `Cannot run ${title} with ${key} = ${value}: expected `,
          `${key} = ${value}`,
        );
      }
    }
  });
}

/** One action alone, and one beside others, which some algorithms do not take. */
const NO_CHOICE: [AgentSpaces["actionSpace"], takenBy: RegExp][] = [
  [{ type: "discrete", n: 1, start: 7 }, /^(?!sac-v1|td3|ddpg)/],
  [{ type: "multiDiscrete", nvec: [1, 3] }, /^(a2c|a3c|acer|acktr|ppo)$/],
];

for (const [form] of LIVE_ALGORITHMS.map(formsOf)) {
  for (const [actionSpace, takenBy] of NO_CHOICE) {
    if (!takenBy.test(form.definition.meta.name)) continue;
    for (const engine of ["eager", "onnx"] as const) {
      Deno.test(`${form.name}: learns where a ${actionSpace.type} action has no choice, ${engine}`, () => {
        const spaces = { ...form.spaces, actionSpace, actionMasks: true };
        const env = new MadeUpEnv(spaces);
        const agent = agentOf({ ...form, spaces }, { engine });
        const { actions, updates } = env.play(agent, STEPS);
        const [only] = agent.act(env.observations, env.actionMasks);
        assertEquals(only, actionSpace.type === "discrete" ? 7 : 0);
        assert(actions.every(([first]) => first === only));
        for (const [name, value] of Object.entries(updates.at(-1)!)) {
          assert(Number.isFinite(value), `${name} is ${value}`);
        }
        agent.close();
      });
    }
  }
}

/** Settings that exclude each other, and what an agent says of them. */
type Refusal = [config: object, says: string, spaces?: Partial<AgentSpaces>];

const BOX = spacesOf("box").actionSpace,
  DISCRETE = spacesOf("discrete").actionSpace;
const Q_ONLY: Refusal[] = [
  [{}, "Cannot learn values of box actions: expected discrete actions", {
    actionSpace: BOX,
  }],
  [
    { finalEpsilons: [0.1] },
    "finalEpsilonProbabilities of sum 1 for 1 finalEpsilons: expected one each, of sum 1",
  ],
];

const BOX_ONLY: Refusal[] = [
  [{ learningStarts: 200, bufferSize: 100 }, "learningStarts = 200"],
  [
    {},
    "actions of type discrete: expected box, or DQN or PPO, which learn discrete ones",
    { actionSpace: DISCRETE },
  ],
  [{}, "multiDiscrete", spacesOf("multiDiscrete")],
  [{ policyDelay: 0 }, "policyDelay = 0"],
];

const REFUSED: Readonly<Record<string, Refusal[]>> = {
  a2c: [
    [
      { numSteps: 1, normalizeAdvantage: true },
      "numEnvs = 1, numSteps = 1 and normalizeAdvantage: true: expected at least 2 steps",
      { numEnvs: 1 },
    ],
    [
      { useSde: true },
      "exploration for discrete actions: it is for box actions",
    ],
  ],
  acer: [
    [{ replayStart: 17 }, "replayStart = 17: expected at most bufferSize, 16"],
    [{ bufferSize: 18 }, "bufferSize = 18: expected a multiple of numSteps, 4"],
    [
      { network: "lstm", burnIn: 4 },
      "burnIn = 4: expected less than numSteps, 4",
    ],
    [
      { burnIn: 2 },
      "burnIn = 2 and network: auto: expected a recurrent network, as lstm",
    ],
    [{ useSde: true }, "useSde and discrete actions: expected box actions"],
  ],
  acktr: [
    [
      { objective: "separate" },
      "objective: separate and valueNetwork: shared: expected valueNetwork: separate",
    ],
    [
      { numSteps: 1 },
      "numEnvs = 1 and numSteps = 1: expected at least 2 steps for the factors of an update, as those of 1 have rank 1",
      { numEnvs: 1 },
    ],
  ],
  "async-q": Q_ONLY,
  "async-nstep-q": Q_ONLY,
  "async-sarsa": Q_ONLY,
  ppo: [
    [{ minibatches: 3 }, "minibatches = 3 of 8 steps"],
    [{ minibatches: 8 }, "minibatches = 8 of one step each"],
    [{ sequenceLength: 2 }, "sequenceLength = 2 and a network without memory"],
    [
      { network: "lstm", sequenceLength: 3 },
      "sequenceLength = 3 and numSteps = 4: expected a divisor of numSteps",
    ],
    [
      { network: "lstm", minibatches: 4 },
      "minibatches = 4 of 2 sequences",
    ],
    [{ clipRange: 0 }, "clipRange = 0: expected a number above 0"],
  ],
  sac: [
    [{ learningStarts: 200, bufferSize: 100 }, "learningStarts = 200"],
    [{ useSde: true }, "discrete actions", { actionSpace: DISCRETE }],
    [{}, "multiBinary", spacesOf("multiBinary")],
  ],
  "sac-v1": [
    [{}, "expected box, or SAC, DQN or PPO", { actionSpace: DISCRETE }],
    [{}, "multiBinary", spacesOf("multiBinary")],
    [{ policy: "mixture", reparameterize: true }, "has no gradient"],
  ],
  td3: BOX_ONLY,
  ddpg: BOX_ONLY,
};

for (const [name, refusals] of Object.entries(REFUSED)) {
  const definition = ALGORITHMS.find((it) => it.meta.name === name)!;
  const [form] = formsOf(definition);
  for (const [config, says, given] of refusals) {
    Deno.test(`${name}: one clear line for ${says}`, () => {
      const spaces = { ...form.spaces, ...given };
      const error = assertThrows(
        () => agentOf({ ...form, spaces }, { config }),
        Error,
        says,
      );
      assertEquals(error.message.includes("\n"), false);
    });
  }
}
