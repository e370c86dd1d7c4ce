import type { AgentContext } from "@bellman/agent";
import { RandomStream, type TensorData } from "@bellman/compute";
import { stochasticPolicy } from "@bellman/policies";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { defaultSacConfig, type SacConfig } from "./config.ts";
import { explorationOf, RepeatedActions } from "./exploration.ts";
import { BOX_SPACES, DISCRETE_SPACES } from "./testdata/play.ts";
import { settledConfig } from "./variants.ts";

/** Number of a policy's action: no random one has it. */
const POLICY = 9;

/** Makes random actions of three, for environments side by side. */
function repeated(numEnvs: number, exponent = 2): RepeatedActions {
  const draw = (random: RandomStream) => Int32Array.of(random.integer(3));
  return new RepeatedActions(numEnvs, { exponent, draw });
}

/** Acts for some steps, and returns the actions of each. */
function actionsOf(
  actions: RepeatedActions,
  { random, epsilon, steps, numEnvs = 1 }: {
    random: RandomStream;
    epsilon: number;
    steps: number;
    numEnvs?: number;
  },
): number[][] {
  const sample = () => new Int32Array(numEnvs).fill(POLICY);
  return Array.from(
    { length: steps },
    () => [...actions.act({ random, sample }, epsilon)],
  );
}

/** Makes the exploration of an agent and plays it at a moment of its run. */
function explored(
  config: Partial<SacConfig>,
  { spaces = DISCRETE_SPACES, steps = 200, progress }: {
    spaces?: AgentContext | typeof DISCRETE_SPACES;
    steps?: number;
    progress: number;
  },
): TensorData[] {
  const context = { ...spaces, totalTimesteps: 1000 };
  const policy = stochasticPolicy(spaces as never);
  const settled = settledConfig(
    { ...defaultSacConfig, ...config },
    spaces.actionSpace,
  );
  const { explore } = explorationOf(settled, context, policy);
  const size = spaces.actionSpace.type === "box" ? 4 : 2;
  const random = new RandomStream(1);
  const moment = { steps, updates: 0, progress };
  const sample = () => new Float32Array(size).fill(POLICY);
  return Array.from(
    { length: 400 },
    () => explore!({ moment, random, sample }).slice(),
  );
}

/** Share of actions that are not the policy's. */
function randomShare(actions: TensorData[]): number {
  const all = actions.flatMap((it) => [...it]);
  return all.filter((it) => it !== POLICY).length / all.length;
}

Deno.test("numbers of repeats are in proportion to a power", () => {
  const counts = new Map<number, number>();
  const random = new RandomStream(2);
  // Drawn actions count up, so that each run of one number is one draw.
  let next = 0;
  const actions = new RepeatedActions(1, {
    exponent: 2,
    draw: () => Int32Array.of(next++),
  });
  const taken = actionsOf(actions, { random, epsilon: 1, steps: 60_000 });
  const lengths = new Map<number, number>();
  for (const [it] of taken.slice(0, -100)) {
    lengths.set(it, (lengths.get(it) ?? 0) + 1);
  }
  for (const it of lengths.values()) counts.set(it, (counts.get(it) ?? 0) + 1);
  const of = (n: number) => (counts.get(n) ?? 0) / lengths.size;
  assertAlmostEquals(of(1), 0.612, 0.02); // 1 / sum_{n=1}^{100} n^-2
  assertAlmostEquals(of(2), 0.153, 0.015);
  assertAlmostEquals(of(5), 0.024, 0.008);
  assert(Math.max(...counts.keys()) <= 100);
  assert(Math.max(...counts.keys()) > 20);
});

Deno.test("with a large exponent no action is repeated", () => {
  let draws = 0;
  const draw = () => Int32Array.of(draws++);
  const actions = new RepeatedActions(1, { exponent: 1e30, draw });
  const random = new RandomStream(1);
  const taken = actionsOf(actions, { random, epsilon: 1, steps: 20 });
  assertEquals(taken.flat(), Array.from({ length: 20 }, (_, i) => i));
});

Deno.test("at a probability of 0 the policy acts, and nothing is drawn", () => {
  const [random, untouched] = [new RandomStream(4), new RandomStream(4)];
  const taken = actionsOf(repeated(1), { random, epsilon: 0, steps: 9 });
  assertEquals(taken.flat(), Array(9).fill(POLICY));
  assertEquals(random.save(), untouched.save());
});

Deno.test("what was saved within a repetition goes on", () => {
  fc.assert(fc.property(
    fc.record({
      seed: fc.nat(1000),
      numEnvs: fc.integer({ min: 1, max: 4 }),
      before: fc.nat(40),
      epsilon: fc.double({ min: 0.05, max: 1, noNaN: true }),
    }),
    ({ seed, numEnvs, before, epsilon }) => {
      const random = new RandomStream(seed);
      const first = repeated(numEnvs), second = repeated(numEnvs);
      actionsOf(first, { random, epsilon, steps: before, numEnvs });
      const [saved, stream] = structuredClone([first.save(), random.save()]);
      const options = { epsilon, steps: 30, numEnvs };
      const wanted = actionsOf(first, { random, ...options });
      second.load(saved);
      random.load(stream);
      assertEquals(actionsOf(second, { random, ...options }), wanted);
      assertEquals(second.save(), first.save());
    },
  ));
});

Deno.test("environments repeat on their own", () => {
  const options = { epsilon: 1, steps: 300, numEnvs: 3 };
  const random = new RandomStream(3);
  const taken = actionsOf(repeated(3), { random, ...options });
  const changes = [0, 1, 2].map((env) =>
    taken.slice(1).map((it, i) => Number(it[env] !== taken[i][env]))
  );
  assert(changes.every((it) => it.includes(1) && it.includes(0)));
  assert(String(changes[0]) !== String(changes[1]));
});

Deno.test("something else is no state of it", () => {
  for (const state of [null, {}, repeated(2).save()]) {
    const error = assertThrows(() => repeated(1).load(state), TypeError);
    assertEquals(
      error.message,
      "Cannot restore the exploration of 1 environments from something else: expected what save() gave",
    );
  }
});

Deno.test("random actions become fewer, and end after their share of the run", () => {
  const shareAt = (progress: number) => randomShare(explored({}, { progress }));
  assertEquals(shareAt(0), 1);
  assert(shareAt(0.1) > 0.5 && shareAt(0.1) < 1);
  assert(shareAt(0.18) < shareAt(0.1) && shareAt(0.18) > 0);
  assertEquals(shareAt(0.2), 0);
  assertEquals(shareAt(1), 0);
});

Deno.test("box actions are explored where it is asked for alone, and keep to -1 and 1", () => {
  const at = { spaces: BOX_SPACES, progress: 0 };
  assertEquals(randomShare(explored({}, at)), 0);
  const actions = explored({ explorationFraction: 0.5 }, at);
  assertEquals(randomShare(actions), 1);
  assert(actions.every((it) => it.every((x) => Math.abs(x) <= 1)));
});

Deno.test("the first steps are uniform, drawn anew at each", () => {
  const actions = explored({}, { steps: 99, progress: 0.5 });
  assertEquals(randomShare(actions), 1);
  const again = actions.slice(1).filter((it, i) => it[0] === actions[i][0]);
  assertAlmostEquals(again.length / actions.length, 1 / 3, 0.08);
});

Deno.test("repeated actions find a far goal that ones drawn anew hardly meet", () => {
  const map = [
    "SFFFFFFF",
    "FFFFFFFF",
    "FFFHFFFF",
    "FFFFFHFF",
    "FFFHFFFF",
    "FHHFFFHF",
    "FHFFHFHF",
    "FFFHFFFG",
  ];
  /** Arrivals at the goal of FrozenLake, 100 steps an episode at most. */
  const arrivals = (exponent: number) => {
    const draw = (random: RandomStream) => Int32Array.of(random.integer(4));
    const actions = new RepeatedActions(1, { exponent, draw });
    const random = new RandomStream(7);
    const options = { random, epsilon: 1, steps: 100_000 };
    let row = 0, column = 0, steps = 0, goals = 0;
    for (const [action] of actionsOf(actions, options)) {
      const by = action < 2 ? 1 : -1;
      if (action % 2 === 0) row = Math.min(7, Math.max(0, row + by));
      else column = Math.min(7, Math.max(0, column + by));
      const tile = map[row][column];
      goals += Number(tile === "G");
      if (++steps < 100 && tile !== "G" && tile !== "H") continue;
      row = column = steps = 0;
    }
    return goals;
  };
  const [repeating, anew] = [arrivals(2), arrivals(1e30)];
  assert(repeating > 60, `${repeating} arrivals`);
  assert(anew < 20, `${anew} arrivals`);
});
