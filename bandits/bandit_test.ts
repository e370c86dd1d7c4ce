import { RandomStream, seedWords } from "@bellman/random";
import type { StateTree } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  arms,
  Bandit,
  type BanditOptions,
  epsilonGreedy,
  type Exploration,
  linear,
  type Model,
  softmax,
  squareCB,
  thompson,
  upperConfidence,
} from "./mod.ts";

type Name = "a" | "b" | "c";
type Context = readonly [number, number];

const ACTIONS: readonly Name[] = ["a", "b", "c"];

function make(
  options: Partial<BanditOptions<string, Context>> = {},
): Bandit<string, Context> {
  return new Bandit<string, Context>({
    actions: ACTIONS,
    features: ([x, y]) => [1, x, y],
    model: linear(),
    explore: thompson(),
    ...options,
  });
}

const MODELS: Readonly<
  Record<string, Partial<BanditOptions<string, Context>>>
> = {
  "linear": {},
  "discounted": { model: linear({ discount: 0.9 }) },
  "of a window": { model: linear({ window: 7 }) },
  "logistic": { model: linear({ logistic: true }) },
  "shared": {
    model: linear({ shared: true }),
    features: ([x, y], action) =>
      ["a", "b", "c", "d"].map((it) => it === action ? x + y : 0.1),
  },
  "arms": { model: arms(), features: undefined },
  "beta arms": { model: arms({ beta: true }), features: undefined },
};
const RULES: readonly Exploration[] = [
  thompson(),
  squareCB(),
  epsilonGreedy(0.3),
  softmax(0.5),
  upperConfidence({ epsilon: 0.2 }),
];

const coordinate = fc.integer({ min: -32, max: 32 }).map((it) => it / 16);
const contextOf = fc.tuple(coordinate, coordinate);
/** What may happen to a bandit: decisions whose reward comes after some others. */
const rounds = fc.array(
  fc.record({
    context: contextOf,
    late: fc.nat(4),
    reward: fc.integer({ min: 0, max: 4 }).map((it) => it / 4),
    allowed: fc.subarray([...ACTIONS], { minLength: 1 }),
  }),
  { minLength: 1, maxLength: 30 },
);
type Round = typeof rounds extends fc.Arbitrary<(infer R)[]> ? R : never;

/** Plays rounds; rewards come late. Returns the decisions, without their random names. */
function play(bandit: Bandit<string, Context>, all: readonly Round[]) {
  const due: [round: number, id: string, reward: number][] = [];
  return all.map(({ context, late, reward, allowed }, i) => {
    const decision = bandit.decide(context, { allowed });
    due.push([i + late, decision.id, reward]);
    for (const [at, id, reward] of due) if (at <= i) bandit.reward(id, reward);
    return [decision.action, decision.propensity];
  });
}

function withoutNames(state: StateTree) {
  const { pending, ...rest } = state as { [key: string]: StateTree };
  return { ...rest, pending: { ...pending as object, ids: [] } };
}

for (const [name, options] of Object.entries(MODELS)) {
  Deno.test(`${name}: a decision has the chance that it says`, () => {
    fc.assert(
      fc.property(
        rounds,
        contextOf,
        fc.constantFrom(...RULES),
        (all, context, explore) => {
          const bandit = make({ ...options, explore });
          play(bandit, all);
          const { allowed } = all[0];
          const chances = bandit.chances(context, { allowed });
          ACTIONS.forEach((it, i) => {
            if (!allowed.includes(it)) assertEquals(chances[i], 0);
          });
          const { action, propensity } = bandit.decide(context, { allowed });
          assertEquals(chances[bandit.actions.indexOf(action)], propensity);
          assert(propensity > 0 && propensity <= 1 + 1e-9);
        },
      ),
      { numRuns: 40 },
    );
  });

  Deno.test(`${name}: a bandit that was killed decides as one that was not`, () => {
    fc.assert(
      fc.property(
        fc.array(rounds, { minLength: 2, maxLength: 4 }),
        fc.constantFrom(...RULES),
        (parts, explore) => {
          const whole = make({ ...options, explore, seed: 5 });
          let killed = make({ ...options, explore, seed: 5 });
          for (const part of parts) {
            whole.save();
            const state = killed.save();
            // Part of the work after the last state is lost.
            play(killed, part.slice(0, 3));
            killed = make({ ...options, explore });
            killed.load(state);
            assertEquals(play(killed, part), play(whole, part));
          }
          assertEquals(withoutNames(killed.save()), withoutNames(whole.save()));
        },
      ),
      { numRuns: 50 },
    );
  });

  Deno.test(`${name}: damaged states change nothing`, () => {
    const bandit = make(options);
    const some: Round = {
      context: [1, 0.5],
      late: 1,
      reward: 1,
      allowed: ["a"],
    };
    play(bandit, [some, some, { ...some, allowed: ["b"] }]);
    const state = bandit.save();
    const other = make({ ...options, seed: 2 }), before = other.save();
    for (const damaged of damages(state)) {
      assertThrows(() => other.load(damaged), TypeError, "Cannot ");
      assertEquals(other.save(), before);
    }
    other.load(state);
    assertEquals(other.save(), state);
  });
}

/** Copies of a state with each of its parts replaced by one of another kind. */
function* damages(state: StateTree): Generator<StateTree> {
  yield* [null, 3, "state", [], {}];
  const record = state as { [key: string]: StateTree };
  for (const [key, value] of Object.entries(record)) {
    for (const bad of [null, "x", [NaN], Float64Array.of(NaN)]) {
      // The list of actions is of names, as "x" is.
      yield { ...record, [key]: bad };
    }
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value) || ArrayBuffer.isView(value)) continue;
    for (const inner of Object.keys(value)) {
      yield { ...record, [key]: { ...value, [inner]: null } };
    }
  }
}

Deno.test("actions are drawn by their chances", () => {
  const bandit = make({ explore: softmax(1) });
  bandit.learn({ context: [1, 1], action: "b", reward: 2 });
  const context: Context = [1, 0], chances = bandit.chances(context);
  const counts = new Map(ACTIONS.map((it) => [it as string, 0]));
  const n = 20_000;
  for (let i = 0; i < n; i++) {
    const { action } = bandit.decide(context);
    counts.set(action, counts.get(action)! + 1);
  }
  ACTIONS.forEach((it, i) => {
    const error = Math.sqrt(chances[i] * (1 - chances[i]) / n);
    assertAlmostEquals(counts.get(it)! / n, chances[i], 4 * error);
  });
});

Deno.test("types follow the actions and the context", () => {
  const bandit = new Bandit({
    actions: ["a", "b"],
    features: (it: { x: number }) => [1, it.x],
    model: linear(),
    explore: thompson(),
  });
  const action: "a" | "b" = bandit.decide({ x: 1 }).action;
  assert(bandit.actions.includes(action));
  const context = { x: 1 };
  assertThrows(
    // @ts-expect-error: there is no such action.
    () => bandit.learn({ context, action: "c", reward: 0 }),
    TypeError,
  );
  // @ts-expect-error: a context is missing.
  assertThrows(() => bandit.decide());
  const plain = new Bandit({
    actions: [1, 2],
    model: arms(),
    explore: thompson(),
  });
  const number: 1 | 2 = plain.decide().action;
  plain.learn({ action: number, reward: 1 });
});

Deno.test("a prediction stays as it was", () => {
  const bandit = make(), context: Context = [1, 1];
  const before = bandit.predict(context),
    [deviation] = make()
      .predict(context).deviations;
  for (const reward of [1, 3]) bandit.learn({ context, action: "a", reward });
  assertEquals([before.means[0], before.deviations[0]], [0, deviation]);
});

Deno.test("equal seeds decide alike, others do not", () => {
  const decisions = (seed: number) => {
    const bandit = make({ seed });
    return Array.from({ length: 20 }, () => bandit.decide([1, 2]).action);
  };
  assertEquals(decisions(1), decisions(1));
  assertNotEquals(decisions(1), decisions(2));
});

Deno.test("a state of 10 actions and 64 features is below 200 kB", () => {
  const bandit = new Bandit<number, number[]>({
    actions: [...Array(10).keys()],
    features: (it) => it,
    model: linear(),
    explore: thompson(),
  });
  for (let action = 0; action < 10; action++) {
    bandit.learn({ context: Array(64).fill(action), action, reward: 1 });
  }
  const bytesOf = (it: unknown): number => {
    if (ArrayBuffer.isView(it)) return it.byteLength;
    const parts = typeof it === "object" ? Object.values(it ?? {}) : [];
    return parts.reduce<number>((sum, part) => sum + bytesOf(part), 8);
  };
  const size = bytesOf(bandit.save());
  assert(size > 100_000 && size < 200_000, `${size}`);
});

Deno.test("a reward of a decision that was lost is no other decision's", () => {
  const bandit = make(), state = bandit.save();
  const lost = Array.from({ length: 50 }, () => bandit.decide([1, 2]).id);
  const loaded = make();
  loaded.load(state);
  for (const _ of lost) loaded.decide([2, 1]);
  assertEquals(lost.filter((id) => loaded.reward(id, 1)), []);
});

Deno.test("a reward counts once, in any order; unknown ones do not", () => {
  const bandit = make();
  const [first, second] = [bandit.decide([1, 0]), bandit.decide([0, 1])];
  assertEquals(bandit.waiting, 2);
  assertEquals(bandit.reward(second.id, 1), true);
  assertEquals(bandit.reward(second.id, 1), false);
  assertEquals(bandit.reward("nobody", 1), false);
  assertEquals(bandit.reward(first.id, 0), true);
  assertEquals(bandit.waiting, 0);
  const other = make();
  other.learn({ context: [0, 1], action: second.action, reward: 1 });
  other.learn({ context: [1, 0], action: first.action, reward: 0 });
  assertEquals(bandit.chances([1, 1]), other.chances([1, 1]));
});

Deno.test("the oldest decisions are forgotten, and counted", () => {
  const bandit = make({ pending: 3 });
  const ids = Array.from({ length: 5 }, () => bandit.decide([1, 0]).id);
  assertEquals([bandit.waiting, bandit.forgotten], [3, 2]);
  const known = ids.map((id) => bandit.reward(id, 1));
  assertEquals(known, [false, false, true, true, true]);
  const smaller = make({ pending: 1 });
  bandit.decide([1, 0]);
  bandit.decide([1, 0]);
  smaller.load(bandit.save());
  assertEquals([smaller.waiting, smaller.forgotten], [1, 3]);
});

Deno.test("a new action is unknown, and a removed one is gone", () => {
  for (const options of [MODELS.linear, MODELS.shared, MODELS["of a window"]]) {
    const bandit = make(options);
    const context: Context = [1, 1];
    for (const action of ACTIONS) bandit.learn({ context, action, reward: 1 });
    bandit.add("d");
    assertEquals(bandit.actions, ["a", "b", "c", "d"]);
    assertEquals(bandit.chances(context).length, 4);
    const waiting = ["a", "c"].map((it) =>
      bandit.decide(context, { allowed: [it] }).id
    );
    const before = bandit.predict(context).means;
    bandit.remove("a");
    assertEquals(bandit.actions, ["b", "c", "d"]);
    const after = bandit.predict(context).means;
    after.forEach((it, i) => assertAlmostEquals(it, before[i + 1], 1e-12));
    assertEquals(waiting.map((id) => bandit.reward(id, 0)), [false, true]);
    assertEquals(bandit.forgotten, 1);
    const other = make(options);
    other.load(bandit.save());
    assertEquals(other.actions, bandit.actions);
    assertEquals(other.chances(context), bandit.chances(context));
  }
  const bandit = make({ actions: ["a", "b"] });
  assertThrows(() => bandit.add("a"), RangeError, "add 'a', which there is");
  assertThrows(() => bandit.remove("x"), TypeError, "Unknown action 'x'");
  bandit.remove("a");
  assertThrows(() => bandit.remove("b"), RangeError, "the last action");
});

Deno.test("bad input is refused in one line, and nothing is learned", () => {
  const bandit = make(), { id } = bandit.decide([1, 0]);
  const bounded = make({ model: linear({ logistic: true }) });
  const beta = make({ model: arms({ beta: true }), features: undefined });
  const context: Context = [1, 0];
  const cases: [() => unknown, string][] = [
    [() => bandit.reward(id, NaN), "a reward of NaN: expected a finite number"],
    [() => bandit.reward(id, Infinity), "a reward of Infinity"],
    [() => bandit.reward(id, "1" as never), 'a reward of "1": expected a'],
    [
      () => bounded.learn({ context, action: "a", reward: 1.5 }),
      "a reward of 1.5: expected a number from 0 to 1",
    ],
    [() => beta.learn({ context, action: "a", reward: -1 }), "from 0 to 1"],
    [() => bandit.decide([NaN, 0]), "take NaN as feature 1"],
    [
      () => bandit.learn({ context: [1, Infinity], action: "a", reward: 1 }),
      "take Infinity as feature 2: expected a finite number",
    ],
    [
      () => bandit.learn({ context, action: "aa", reward: 1 }),
      "Unknown action 'aa': expected one of a, b, c",
    ],
    [() => bandit.decide(context, { allowed: ["d"] }), "Unknown action 'd'"],
    [
      () => bandit.decide(context, { allowed: [] }),
      "with allowed []: expected a list",
    ],
  ];
  const states = () => [bandit, bounded, beta].map((it) => it.save());
  const before = states();
  for (const [call, message] of cases) {
    const error = assertThrows(call, Error, message);
    assertEquals(error.message.split("\n").length, 1);
  }
  assertEquals(states(), before);
  assertEquals(bandit.reward(id, 1), true);
});

Deno.test("features of another number than before are refused", () => {
  const bandit = new Bandit<string, number[]>({
    actions: ["a"],
    features: (it) => it,
    model: linear(),
    explore: thompson(),
  });
  assertThrows(() => bandit.decide([]), RangeError, "expected at least 1");
  bandit.decide([1, 2]);
  assertThrows(() => bandit.decide([1]), RangeError, "expected 2, as before");
});

Deno.test("options that do not fit are refused in one line", () => {
  const wrong = (options: object) => () => make(options);
  const features = (_: unknown, __: unknown) => [1];
  const cases: [() => unknown, string][] = [
    [wrong({ actions: [] }), "with actions []: expected a list of names"],
    [wrong({ actions: ["a", "a"] }), "add 'a', which there is"],
    [
      wrong({ actions: ["a", {}] }),
      "an action of [object Object]: expected a text",
    ],
    [wrong({ actions: [NaN] }), "an action of NaN: expected a text or a"],
    [wrong({ model: linear }), "expected linear() or arms()"],
    [wrong({ model: {} }), "with model {}: expected linear() or arms()"],
    [wrong({ actions: undefined }), "expected the option 'actions'"],
    [wrong({ model: undefined }), "expected the option 'model'"],
    [wrong({ explore: undefined }), "expected the option 'explore'"],
    [wrong({ features: undefined }), "expected the option 'features'"],
    [wrong({ model: arms() }), "arms() with features: expected linear()"],
    [wrong({ features }), "expected linear({ shared: true })"],
    [wrong({ seed: -1 }), "with seed -1: expected a whole number"],
    [wrong({ pending: 0 }), "with pending 0: expected a whole number"],
    [wrong({ penidng: 3 }), "did you mean 'pending'?"],
    [
      () => linear({ lambda: 0 }),
      "with lambda 0: expected a number from 1e-30",
    ],
    [() => linear({ noise: "guess" } as never), 'or "estimated"'],
    [() => linear({ discount: 1.1 }), "with discount 1.1"],
    [() => linear({ window: 0 }), "with window 0"],
    [() => linear({ window: 3, discount: 0.9 }), "discount and window"],
    [() => linear({ logistic: true, noise: 1 }), "logistic and noise"],
    [() => arms({ beta: true, lambda: 2 }), "beta and lambda"],
    [() => arms({ lambda: -1 }), "with lambda -1"],
    [() => arms({ shared: true } as never), "Unknown option 'shared' of arms"],
  ];
  for (const [call, message] of cases) {
    const error = assertThrows(call, Error, message);
    assertEquals(error.message.split("\n").length, 1);
  }
  assertEquals(linear({ logistic: false, noise: 1 }).noise, 1);
});

Deno.test("what is no list of chances is refused", () => {
  const cases: [unknown, string][] = [
    [Float64Array.of(0.5, 0.1, 0.1), "3 chances that add up to 0.7"],
    [Float64Array.of(1.5, -0.5, 0), "a chance of -0.5: expected at least 0"],
    [Float64Array.of(NaN, 0.5, 0.5), "a chance of NaN"],
    [Float64Array.of(1), "by 1 chances"],
    [undefined, "by 0 chances"],
  ];
  for (const [chances, message] of cases) {
    const bandit = make({ explore: () => chances as Float64Array });
    assertThrows(() => bandit.decide([1, 1]), RangeError, message);
  }
  for (const alpha of [() => NaN, () => -1, () => Infinity]) {
    for (
      const explore of [
        thompson({ alpha }),
        upperConfidence({ alpha }),
        squareCB({ gamma: alpha }),
      ]
    ) {
      const bandit = make({ explore });
      assertThrows(
        () => bandit.decide([1, 1]),
        RangeError,
        "Cannot explore by",
      );
    }
  }
});

Deno.test("options of a decision are checked", () => {
  const bandit = make(), context: Context = [1, 1];
  assertThrows(
    () => bandit.decide(context, { alowed: ["a"] } as never),
    TypeError,
    "did you mean 'allowed'?",
  );
  assertEquals(bandit.decide(context, undefined).propensity, 1 / 3);
});

/** Rows of a linear problem. */
function* experience(seed: number, count: number) {
  const random = new RandomStream(seedWords(seed));
  for (let i = 0; i < count; i++) {
    const context: Context = [random.normal(), random.normal()];
    const action = ACTIONS[i % 3];
    const mean = context[0] * (i % 3) - context[1];
    yield { context, action, reward: mean + 0.3 * random.normal() };
  }
}

function learned(
  options: Partial<BanditOptions<string, Context>>,
  rows: Iterable<{ context: Context; action: Name; reward: number }>,
  start?: StateTree,
): Bandit<string, Context> {
  const bandit = make(options);
  if (start !== undefined) bandit.load(start);
  for (const it of rows) bandit.learn(it);
  return bandit;
}

Deno.test("merged bandits know what one with all rewards knows", () => {
  for (const model of [linear(), linear({ noise: 1 })]) {
    const base = learned({ model }, experience(0, 30)).save();
    const parts = [1, 2, 3].map((seed) => [...experience(seed, 20 + seed)]);
    const bandits = parts.map((it) => learned({ model }, it, base));
    const states = bandits.map((it) => it.save());
    const one = learned({ model }, parts.flat(), base);
    bandits.forEach((bandit, i) => {
      bandit.merge(states.filter((_, k) => k !== i), { base });
      for (const { context } of experience(9, 5)) {
        const found = bandit.predict(context), expected = one.predict(context);
        found.means.forEach((it, k) =>
          assertAlmostEquals(it, expected.means[k], 1e-9)
        );
        found.deviations.forEach((it, k) =>
          // The estimated noise is of each bandit's own predictions.
          assertAlmostEquals(it / expected.deviations[k], 1, 0.05)
        );
      }
    });
  }
});

Deno.test("merged logistic bandits are near to one with all rewards", () => {
  const model = linear({ logistic: true });
  const clicks = (seed: number) =>
    [...experience(seed, 200)]
      .map((it) => ({ ...it, reward: Number(it.reward > 0) }));
  const parts = [clicks(1), clicks(2)];
  const [here, there] = parts.map((it) => learned({ model }, it));
  here.merge([there.save()]);
  const one = learned({ model }, parts.flat());
  for (const { context } of experience(9, 20)) {
    const found = here.predict(context).means;
    one.predict(context).means.forEach((it, i) =>
      assertAlmostEquals(found[i], it, 0.1)
    );
  }
});

Deno.test("bandits of unequal models, actions or features do not merge", () => {
  const bandit = learned({}, experience(0, 9)), before = bandit.save();
  const cases: [Bandit<string, Context>, string][] = [
    [make({ model: linear({ lambda: 2 }) }), "another model, linear, lambda 2"],
    [
      make({ actions: ["a", "b"] }),
      'of the actions ["a","b"]: expected ["a","b","c"]',
    ],
    [make({ features: ([x]) => [1, x] }), "merge 2 features: expected 3"],
  ];
  for (const [other, message] of cases) {
    other.learn({ context: [1, 1], action: "a", reward: 1 });
    assertThrows(() => bandit.merge([other.save()]), TypeError, message);
  }
  const base = learned({}, experience(0, 20)).save();
  assertThrows(
    () => bandit.merge([make().save()], { base }),
    TypeError,
    "learned less than the base",
  );
  assertEquals(bandit.save(), before);
  for (const model of [linear({ discount: 0.9 }), linear({ window: 9 })]) {
    const forgetful = make({ model });
    assertThrows(() => forgetful.merge([]), RangeError, "that forget");
  }
});

Deno.test("the unit of rewards does not matter", () => {
  const actions = (scale: number, model: Model) => {
    const bandit = make({ model }), random = new RandomStream(seedWords(1));
    return Array.from({ length: 300 }, () => {
      const context: Context = [random.normal(), random.normal()];
      const { id, action } = bandit.decide(context);
      const mean = action === "a" ? context[0] : context[1];
      bandit.reward(id, scale * (mean + random.normal()));
      return action;
    });
  };
  // A power of 2 changes no bit, and 100 only the last ones.
  assertEquals(actions(1 / 64, linear()), actions(1, linear()));
  assertEquals(actions(100, linear()), actions(1, linear()));
  const noise = linear({ noise: 1 });
  assertNotEquals(actions(100, noise), actions(1, noise));
});

/** Regret of clicks whose rewards come some decisions late, of five seeds. */
function lateRegret(explore: Exploration, late: number): number {
  let total = 0;
  for (let seed = 0; seed < 5; seed++) {
    const random = new RandomStream(seedWords(seed));
    const draw = () => [1, random.normal(), random.normal(), random.normal()];
    const weights = Array.from({ length: 5 }, draw);
    const bandit = new Bandit<number, number[]>({
      actions: [0, 1, 2, 3, 4],
      features: (it) => it,
      model: linear(),
      explore,
      seed,
    });
    const due: [string, number][] = [];
    for (let i = 0; i < 1000; i++) {
      const context = draw();
      const means = weights.map((it) =>
        1 / (1 + Math.exp(-it.reduce((sum, w, k) => sum + w * context[k], 0)))
      );
      const { id, action } = bandit.decide(context);
      total += Math.max(...means) - means[action];
      due.push([id, Number(random.uniform() < means[action])]);
      if (due.length > late) bandit.reward(...due.shift()!);
    }
  }
  return total;
}

Deno.test("late rewards cost thompson less than an upper confidence bound", () => {
  const ratio = lateRegret(upperConfidence(), 200) /
    lateRegret(thompson(), 200);
  assert(ratio > 1.4, `${ratio}`);
});

Deno.test("waiting decisions keep the number of features, loaded or merged", () => {
  const make = () =>
    new Bandit({
      actions: ["a", "b"],
      features: (it: number[]) => it,
      model: linear(),
      explore: thompson(),
    });
  const first = make(), loaded = make(), other = make();
  const { id } = first.decide([1, 2, 3]);
  loaded.load(first.save());
  assertThrows(() => loaded.decide([1, 2]), RangeError, "expected 3");
  other.learn({ context: [1, 2], action: "a", reward: 1 });
  const state = other.save();
  assertThrows(() => first.merge([state]), TypeError, "merge 2 features");
  assert(first.reward(id, 1) && loaded.reward(id, 1));
  assertEquals(first.save(), loaded.save());
});

Deno.test("what is no list of states, or behind the base, is not merged", () => {
  const make = (rewards: number[]) => {
    const bandit = new Bandit({
      actions: ["a"],
      model: arms(),
      explore: thompson(),
    });
    for (const reward of rewards) bandit.learn({ action: "a", reward });
    return bandit;
  };
  const bandit = make([1, 1]), base = bandit.save(), other = make([5]).save();
  assertThrows(() => bandit.merge(other as never), TypeError, "merge");
  assertThrows(() => bandit.merge([other], { base }), TypeError, "less than");
  assertEquals(bandit.save(), base);
});
