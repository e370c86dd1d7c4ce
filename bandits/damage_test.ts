/** Snapshots with damaged parts, and numbers at the ends of what is allowed. */
import { RandomStream, seedWords } from "@bellman/random";
import type { StateTree } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  arms,
  Bandit,
  type BanditOptions,
  linear,
  thompson,
  upperConfidence,
} from "./mod.ts";

type Options = Partial<BanditOptions<string, number>>;

function make(options: Options = {}): Bandit<string, number> {
  return new Bandit<string, number>({
    actions: ["a", "b", "c"],
    features: (it) => [1, it],
    model: linear(),
    explore: thompson(),
    ...options,
  });
}

const MODELS: Readonly<Record<string, Options>> = {
  "linear": {},
  "discounted": { model: linear({ discount: 0.9 }) },
  "of a window": { model: linear({ window: 5 }) },
  "logistic": { model: linear({ logistic: true }) },
  "shared": {
    model: linear({ shared: true }),
    features: (it, action) => [it, action === "a" ? 1 : 0],
  },
  "beta": { model: arms({ beta: true }), features: undefined },
  "without a prior": { model: arms({ lambda: 0 }), features: undefined },
};

/** Values that stand where others are expected. */
const WRONG: readonly unknown[] = [
  null,
  undefined,
  NaN,
  Infinity,
  -1,
  0.5,
  1e300,
  2 ** 53,
  "",
  "x",
  [],
  [null],
  {},
  true,
  3,
  new Float64Array(3),
  Float64Array.of(NaN),
  Float64Array.of(1e300),
  Float64Array.of(-1),
  Int32Array.of(-1),
  new Uint8Array(2),
  ["a", "a"],
];

/** Numbers and lengths that an entry of a list is replaced by. */
const NUMBERS = [NaN, Infinity, -1, -0.5, 0, 1, 2, 1e9, 1e300, -1e300, 5e-324];

/** Damages one part of a state, anywhere. */
function damage(state: unknown, random: RandomStream): unknown {
  const pick = <T>(list: readonly T[]): T =>
    list[Math.floor(random.uniform(0, list.length))];
  const isBranch = typeof state === "object" && state !== null;
  if (!isBranch || random.uniform() < 0.1) return pick(WRONG);
  if (ArrayBuffer.isView(state)) {
    const copy = (state as Float64Array).slice();
    if (copy.length === 0 || random.uniform() < 0.2) {
      return copy.slice(0, copy.length - 1);
    }
    copy[Math.floor(random.uniform(0, copy.length))] = pick(NUMBERS);
    return copy;
  }
  if (Array.isArray(state)) {
    const copy = [...state], at = Math.floor(random.uniform(0, copy.length));
    const action = random.uniform();
    if (action < 0.1) copy.splice(at, 1);
    else if (action < 0.2) copy.push(copy[at]);
    else copy[at] = damage(copy[at], random);
    return copy;
  }
  const keys = Object.keys(state), key = pick(keys);
  const copy = { ...state } as Record<string, unknown>;
  if (random.uniform() < 0.1) delete copy[key];
  else copy[key] = damage(copy[key], random);
  return copy;
}

for (const [name, options] of Object.entries(MODELS)) {
  Deno.test(`${name}: a damaged state is refused in one line, or works`, () => {
    const random = new RandomStream(seedWords(1));
    const bandit = make(options);
    for (let i = 0; i < 9; i++) {
      const { id } = bandit.decide(i / 4);
      if (i % 3 > 0) bandit.reward(id, i % 2);
    }
    const state = bandit.save();
    for (let i = 0; i < 2000; i++) {
      const damaged = damage(state, random) as StateTree;
      const other = make(options);
      try {
        other.load(damaged);
      } catch (error) {
        assert(error instanceof TypeError, `${error}`);
        assert(
          /^Cannot [^\n]*: expected [^\n]+$/.test(error.message),
          error.message,
        );
        continue;
      }
      // What is loaded is a state of a bandit: it decides and learns.
      for (let k = 0; k < 3; k++) {
        const { id } = other.decide(k);
        assert(other.reward(id, k % 2));
      }
      assertEquals(new Set(other.actions).size, other.actions.length);
      make(options).load(other.save());
    }
  });
}

Deno.test("numbers of any allowed size leave a bandit that decides and can be saved", () => {
  const size = fc.double({ min: -1e30, max: 1e30, noNaN: true });
  const some = fc.oneof(
    size,
    fc.constantFrom(0, 1, -1, 1e30, -1e30, 1e-300, 1e15, 1e-15),
  );
  const rows = fc.array(fc.tuple(some, some, fc.constantFrom("a", "b")), {
    minLength: 1,
    maxLength: 12,
  });
  const models = fc.constantFrom(
    linear(),
    linear({ lambda: 1e-30 }),
    linear({ lambda: 1e30 }),
    linear({ discount: 1e-9 }),
    linear({ window: 2 }),
    linear({ noise: 1e30 }),
    linear({ logistic: true }),
    linear({ shared: true }),
  );
  const rules = fc.constantFrom(thompson(), upperConfidence());
  fc.assert(
    fc.property(rows, models, rules, (all, model, explore) => {
      const bandit = make({ model, explore });
      for (const [context, reward, action] of all) {
        const given = model.logistic ? Number(reward > 0) : reward;
        bandit.learn({ context, action, reward: given });
        bandit.decide(context);
        bandit.decide(1);
      }
      const other = make({ model, explore });
      other.load(bandit.save());
      assertEquals(other.chances(1), bandit.chances(1));
    }),
    { numRuns: 300 },
  );
});

Deno.test("larger numbers are refused", () => {
  const bandit = make(), before = bandit.save();
  for (const big of [1e31, -1e31, Number.MAX_VALUE]) {
    assertThrows(
      () => bandit.decide(big),
      RangeError,
      "as feature 1: expected",
    );
    const row = { context: 1, action: "a", reward: big };
    assertThrows(() => bandit.learn(row), RangeError, "a reward of");
  }
  assertEquals(bandit.save(), before);
});

Deno.test("what features return is a list of numbers", () => {
  for (const value of [5, "text", null, undefined, {}, ["x"], [[1, 2]], true]) {
    const bandit = make({ features: () => value as never });
    assertThrows(() => bandit.decide(1), RangeError, "Cannot take");
  }
});

/** Something that happens to a bandit. */
type Event = readonly [kind: number, action: string, context: number];

/** Lets events happen; returns all that is seen from outside. */
function happen(bandit: Bandit<string, number>, events: readonly Event[]) {
  const ids: string[] = [];
  const seen = events.map(([kind, action, context]): unknown => {
    const has = bandit.actions.includes(action);
    if (kind < 4) {
      const allowed = kind === 3 && has ? [action] : undefined;
      const decision = bandit.decide(context, { allowed });
      ids.push(decision.id);
      return [decision.action, decision.propensity];
    }
    const reward = Number(context > 0);
    if (kind < 7) return bandit.reward(ids[ids.length % kind] ?? "", reward);
    if (kind === 7) return has && bandit.learn({ context, action, reward });
    if (kind === 8) return has || bandit.add(action);
    if (has && bandit.actions.length > 1) bandit.remove(action);
    return bandit.waiting;
  });
  return [seen, bandit.actions, [...bandit.chances(1)], bandit.forgotten];
}

const histories = fc.array(
  fc.tuple(
    fc.nat(9),
    fc.constantFrom("a", "b", "c", "d", "e"),
    fc.integer({ min: -8, max: 8 }).map((it) => it / 4),
  ),
  { maxLength: 40 },
);

for (const [name, options] of Object.entries(MODELS)) {
  Deno.test(`${name}: a loaded bandit goes on alike, whatever happened`, () => {
    fc.assert(
      fc.property(histories, histories, (before, after) => {
        const bandit = make({ ...options, pending: 5 });
        happen(bandit, before);
        const other = make({ ...options, pending: 5, seed: 9 });
        other.load(bandit.save());
        assertEquals(happen(other, after), happen(bandit, after));
      }),
      { numRuns: 150 },
    );
  });
}

Deno.test("twenty bandits that merge again and again know what one knows", () => {
  const random = new RandomStream(seedWords(4));
  const start = (seed: number) => make({ seed, model: linear({ noise: 1 }) });
  const one = start(99), all = Array.from({ length: 20 }, (_, i) => start(i));
  let base = one.save();
  for (let round = 0; round < 5; round++) {
    for (const bandit of all) {
      for (let i = 0; i < 7; i++) {
        const context = random.normal(), action = "abc"[i % 3];
        const row = { context, action, reward: context + random.normal() };
        bandit.learn(row);
        one.learn(row);
      }
    }
    const states = all.map((it) => it.save());
    all.forEach((it, i) => it.merge(states.toSpliced(i, 1), { base }));
    base = all[0].save();
  }
  for (const bandit of all) {
    const found = bandit.predict(0.5), expected = one.predict(0.5);
    found.means.forEach((it, i) =>
      assertAlmostEquals(it, expected.means[i], 1e-9)
    );
    found.deviations.forEach((it, i) =>
      assertAlmostEquals(it, expected.deviations[i], 1e-9)
    );
  }
});
