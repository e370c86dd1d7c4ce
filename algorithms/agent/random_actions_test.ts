import { RandomStream } from "@bellman/compute";
import type { Space } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  randomActions,
  type RandomActionsOptions,
  RepeatedActions,
} from "./random_actions.ts";

/** Number of a policy's action: no random one has it. */
const POLICY = 9;

/** Makes random actions of three, for environments side by side. */
function repeated(numEnvs: number): RepeatedActions {
  const draw = (random: RandomStream) => Int32Array.of(random.integer(3));
  return new RepeatedActions(numEnvs, { exponent: 2, draw });
}

/** Acts for some steps, and returns the actions of each. */
function actionsOf(
  actions: RepeatedActions,
  { random, steps }: { random: RandomStream; steps: number },
): number[][] {
  return Array.from({ length: steps }, () => [...actions.act(random)]);
}

const SPACES: Record<"discrete" | "box", Space> = {
  discrete: { type: "discrete", n: 3 },
  box: { type: "box", shape: [2], low: -2, high: 2, dtype: "float32" },
};

/** Actions before and after the first 300 steps, of two environments each. */
function explored(
  actionSpace: Space,
  options: Pick<RandomActionsOptions, "repeatExponent"> = {},
): Record<"before" | "after", number[][]> {
  const context = { actionSpace, numEnvs: 2 };
  const explorer = randomActions(context, { steps: 300, ...options });
  const random = new RandomStream(1);
  const sample = () => new Float32Array(2).fill(POLICY);
  const at = (steps: number) => {
    const progress = { steps, updates: 0, fraction: 0 };
    return [...explorer.act({ progress, random, sample })];
  };
  const actions = (first: number) =>
    Array.from({ length: 150 }, (_, i) => at(first + 2 * i));
  return { before: actions(0), after: actions(300) };
}

/** Share of steps whose action is that of the step before. */
function keptShare(actions: number[][]): number {
  const kept = actions.slice(1).filter((it, i) => it[0] === actions[i][0]);
  return kept.length / (actions.length - 1);
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
  const taken = actionsOf(actions, { random, steps: 60_000 });
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
  const taken = actionsOf(actions, { random, steps: 20 });
  assertEquals(taken.flat(), Array.from({ length: 20 }, (_, i) => i));
});

Deno.test("what was saved within a repetition goes on", () => {
  fc.assert(fc.property(
    fc.record({
      seed: fc.nat(1000),
      numEnvs: fc.integer({ min: 1, max: 4 }),
      before: fc.nat(40),
    }),
    ({ seed, numEnvs, before }) => {
      const random = new RandomStream(seed);
      const first = repeated(numEnvs), second = repeated(numEnvs);
      actionsOf(first, { random, steps: before });
      const [saved, stream] = structuredClone([first.save(), random.save()]);
      const wanted = actionsOf(first, { random, steps: 30 });
      second.load(saved);
      random.load(stream);
      assertEquals(actionsOf(second, { random, steps: 30 }), wanted);
      assertEquals(second.save(), first.save());
    },
  ));
});

Deno.test("environments repeat on their own", () => {
  const random = new RandomStream(3);
  const taken = actionsOf(repeated(3), { random, steps: 300 });
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

Deno.test("random actions come first, the policy's after them", () => {
  for (const space of Object.values(SPACES)) {
    for (const repeatExponent of [undefined, 2]) {
      const { before, after } = explored(space, { repeatExponent });
      assert(before.flat().every((it) => it !== POLICY));
      assert(after.flat().every((it) => it === POLICY));
    }
  }
});

Deno.test("actions are drawn anew at each step unless they are repeated", () => {
  const shareOf = (...given: Parameters<typeof explored>) =>
    keptShare(explored(...given).before);
  const { discrete, box } = SPACES;
  assertAlmostEquals(shareOf(discrete), 1 / 3, 0.12);
  assertAlmostEquals(shareOf(discrete, { repeatExponent: 1e30 }), 1 / 3, 0.12);
  assert(shareOf(discrete, { repeatExponent: 2 }) > 0.6);
  assertEquals(shareOf(box), 0);
  assert(shareOf(box, { repeatExponent: 2 }) > 0.4);
});

Deno.test("actions of other spaces are refused", () => {
  assertThrows(
    () => explored({ type: "multiBinary", n: 2 }),
    TypeError,
    "Cannot draw random actions of type multiBinary: expected box or discrete",
  );
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
    const options = { random, steps: 100_000 };
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

for (const repeatExponent of [undefined, 2]) {
  const form = repeatExponent === undefined ? "" : "repeated ";
  Deno.test(`${form}random actions are uniform among those that masks allow`, () => {
    const actionSpace: Space = { type: "discrete", n: 4, start: 3 };
    const explorer = randomActions({ actionSpace, numEnvs: 2 }, {
      steps: 1e6,
      repeatExponent,
    });
    const random = new RandomStream(3), progress = { ...START, steps: 0 };
    const sample = () => new Int32Array(2).fill(POLICY);
    const counts = new Int32Array(4), rounds = 30_000;
    for (let round = 0; round < rounds; round++) {
      const odd = round % 2;
      // Of the first environment all but one, of the second one action.
      const actionMasks = Uint8Array.of(1, 1, 0, 1, odd, 0, 1 - odd, 0);
      const actions = explorer.act({ progress, random, sample, actionMasks });
      counts[actions[0] - 3]++;
      assertEquals(actions[1], odd ? 3 : 5);
    }
    assertEquals(counts[2], 0);
    for (const i of [0, 1, 3]) {
      assertAlmostEquals(counts[i] / rounds, 1 / 3, 0.05);
    }
  });
}

const START = { steps: 0, updates: 0, fraction: 0 };

Deno.test("after the first steps each environment explores at a share of its own draws", () => {
  const numEnvs = 3, n = 3;
  const explorer = randomActions({ actionSpace: SPACES.discrete, numEnvs }, {
    steps: 6,
    epsilon: ({ steps }) => steps < 600 ? 0.5 : 0,
  });
  const random = new RandomStream(3);
  // The policy's action is forbidden to random ones, as is the first choice.
  const actionMasks = Uint8Array.from(
    { length: numEnvs * n },
    (_, i) => Number(i % n !== 0),
  );
  let asked = 0;
  const at = (steps: number) => [...explorer.act({
    progress: { steps, updates: 0, fraction: 0 },
    random,
    sample: () => (asked++, new Int32Array(numEnvs).fill(POLICY)),
    actionMasks,
  })];
  assert(at(3).every((it) => it === 1 || it === 2));
  assertEquals(asked, 0);
  const actions = Array.from({ length: 198 }, (_, i) => at(6 + 3 * i));
  const explored = actions.map((it) => it.filter((a) => a !== POLICY));
  assert(explored.flat().every((it) => it === 1 || it === 2));
  for (const [count, share] of [[0, 1], [1, 3], [2, 3], [3, 1]]) {
    const seen = explored.filter((it) => it.length === count).length;
    assertAlmostEquals(seen / explored.length, share / 8, 0.1);
  }
  // Where all explore, the policy is not run.
  const all = explored.filter((it) => it.length === numEnvs).length;
  assertEquals(asked, actions.length - all);
  assertEquals(at(600), [POLICY, POLICY, POLICY]);
});
