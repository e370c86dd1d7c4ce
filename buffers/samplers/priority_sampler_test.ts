import type { StateTree } from "@bellman/types";
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import type { PrioritySampler } from "./priority_sampler.ts";
import {
  ProportionalSampler,
  type ProportionalSamplerOptions,
} from "./proportional_sampler.ts";
import { RankBasedSampler } from "./rank_based_sampler.ts";
import { PrioritizedReplayBuffer } from "../replay/prioritized_replay_buffer.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { UniformSampler } from "./sampler.ts";

/** What is the same for both ways to prioritize. */
interface Kind {
  readonly name: string;
  make(options?: ProportionalSamplerOptions): PrioritySampler;
  /** Rows whose largest weight becomes 1 by default. */
  readonly weightsOver: "batch" | "buffer";
  /** Probabilities of rows by their priorities, 0 for those not held. */
  probabilities(priorities: number[], alpha: number): number[];
}

function normalized(masses: number[]): number[] {
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => mass / total);
}

const KINDS: readonly Kind[] = [
  {
    name: "proportional",
    make: (options) => new ProportionalSampler(options),
    weightsOver: "batch",
    probabilities: (priorities, alpha) =>
      normalized(priorities.map((it) => it > 0 ? it ** alpha : 0)),
  },
  {
    name: "rank-based",
    make: ({ weightsOver: _, ...options } = {}) =>
      new RankBasedSampler(options),
    weightsOver: "buffer",
    probabilities(priorities, alpha) {
      const masses = priorities.map(() => 0);
      priorities.map((_, slot) => slot)
        .filter((slot) => priorities[slot] > 0)
        .sort((a, b) => priorities[b] - priorities[a] || a - b)
        .forEach((slot, rank) => masses[slot] = (rank + 1) ** -alpha);
      return normalized(masses);
    },
  },
];

function test(name: string, test: (kind: Kind) => void): void {
  for (const kind of KINDS) {
    Deno.test(`${kind.name}: ${name}`, () => test(kind));
  }
}

/** A sampler that holds slots whose priorities are above 0. */
function holding(
  { make }: Kind,
  priorities: number[],
  options?: ProportionalSamplerOptions,
): PrioritySampler {
  const sampler = make(options);
  sampler.resize(priorities.length);
  sampler.added(0, priorities.length);
  priorities.forEach((it, slot) => {
    if (it > 0) sampler.updatePriorities([slot], [it]);
    else sampler.removed(slot, 1);
  });
  return sampler;
}

function draw(sampler: PrioritySampler, count: number, seed = 1) {
  const drawn = {
    slots: new Int32Array(count),
    weights: new Float32Array(count),
  };
  const rows = { first: 0, length: 1, capacity: 1 };
  sampler.draw(drawn, { rows, random: testRandom(seed) });
  return drawn;
}

const someSlots = [1, 0, 0.25, 3, 3, 0, 8, 0.5, 0.001, 2];

test("rows are drawn as often as their priorities say", (kind) => {
  for (const alpha of [0, 0.5, 1, 2]) {
    const sampler = holding(kind, someSlots, { alpha });
    const counts = someSlots.map(() => 0);
    for (let seed = 0; seed < 400; seed++) {
      for (const slot of draw(sampler, 50, seed).slots) counts[slot]++;
    }
    const expected = kind.probabilities(someSlots, alpha);
    // Strata take chance away: draws cannot be too even.
    const deviation = chiSquaredDeviation(counts, expected);
    assertEquals(deviation < 4, true, `alpha ${alpha}: ${deviation}`);
  }
});

test("a stratified batch takes a row from each part", (kind) => {
  const sampler = holding(kind, someSlots, { alpha: 1 });
  const expected = kind.probabilities(someSlots, 1);
  const { slots } = draw(sampler, 1000);
  someSlots.forEach((_, slot) => {
    const count = slots.filter((it) => it === slot).length;
    assertAlmostEquals(count, 1000 * expected[slot], 2);
  });
});

test("weights are (N P)^-beta over the largest one", (kind) => {
  const priorities = fc.array(
    fc.oneof(fc.constant(0), fc.double({ min: 1e-3, max: 1e3, noNaN: true })),
    { minLength: 1, maxLength: 60, size: "max" },
  ).filter((it) => it.some((priority) => priority > 0));
  const exponent = fc.double({ min: 0, max: 1.5, noNaN: true });
  fc.assert(fc.property(
    fc.tuple(priorities, exponent, exponent, fc.boolean()),
    ([priorities, alpha, beta, isBaselines]) => {
      const weightsOver = isBaselines ? "buffer" : kind.weightsOver;
      const options = { alpha, beta, weightsOver };
      const sampler = holding(kind, priorities, options);
      const { slots, weights } = draw(sampler, 20);
      const probabilities = kind.probabilities(priorities, alpha);
      const held = probabilities.filter((it) => it > 0);
      const all = probabilities.map((it) => (held.length * it) ** -beta);
      const max = weightsOver === "buffer"
        ? Math.max(...all.filter((_, slot) => priorities[slot] > 0))
        : Math.max(...[...slots].map((slot) => all[slot]));
      slots.forEach((slot, i) => {
        assertAlmostEquals(weights[i], all[slot] / max, 1e-6);
      });
    },
  ));
});

test("beta can change from draw to draw", (kind) => {
  const sampler = holding(kind, someSlots, { alpha: 1, beta: 1 });
  const full = draw(sampler, 30).weights;
  sampler.beta = 0.5;
  draw(sampler, 30).weights.forEach((it, i) =>
    assertAlmostEquals(it, Math.sqrt(full[i]), 1e-6)
  );
  sampler.beta = 0;
  assertEquals(draw(sampler, 30).weights, new Float32Array(30).fill(1));
  assertThrows(() => sampler.beta = -1, RangeError, "with beta -1: expected");
  assertEquals(sampler.beta, 0);
});

test("new rows have the largest priority there is, 1 where there is none", (kind) => {
  const sampler = kind.make({ alpha: 0.5 });
  sampler.resize(4);
  const saved: Float64Array[] = [new Float64Array(4)];
  const add = (slot: number, wanted: number) => {
    sampler.added(slot, 1);
    const { leaves, priorities = leaves } = sampler.save();
    saved.unshift(priorities as Float64Array);
    const power = kind.name === "proportional" ? 0.5 : 1;
    assertEquals(saved[0][slot], wanted ** power);
  };
  add(0, 1);
  sampler.updatePriorities([0], [1e6]);
  add(1, 1e6);
  sampler.updatePriorities([0, 1], [2, 0.5]);
  add(2, 2);
  sampler.updatePriorities([2], [0.25]);
  sampler.removed(0, 1);
  add(3, 0.5);
  sampler.updatePriorities([1, 3], [0.125, 0.125]);
  sampler.load(sampler.save());
  add(0, 0.25);
  for (const slot of [0, 1, 2, 3]) sampler.removed(slot, 1);
  add(0, 1);
});

Deno.test("one row without an error leaves the weights of others as they were", () => {
  const mean = (priorities: number[]) => {
    const sampler = holding(KINDS[0], priorities);
    const { weights } = draw(sampler, 64);
    return weights.reduce((sum, it) => sum + it, 0) / 64;
  };
  const others = Array(999).fill(0).map((_, i) => 1 + i % 5);
  assertAlmostEquals(mean([1e-6, ...others]), mean([1, ...others]), 0.02);
});

test("priorities of rows that are not held change nothing", (kind) => {
  const sampler = holding(kind, someSlots);
  const before = sampler.save();
  sampler.updatePriorities([1, 5], [100, 200]);
  assertEquals(sampler.save(), before);
});

test("rows that were replaced since they were drawn are passed over", (kind) => {
  const sampler = holding(kind, [1, 1, 1], { alpha: 0.01 });
  const { slots } = draw(sampler, 3);
  assertEquals(slots, Int32Array.of(0, 1, 2));
  sampler.removed(1, 1);
  sampler.added(1, 1);
  sampler.updatePriorities(slots, [2, 9, 3]);
  const expected = kind.make({ alpha: 0.01 });
  expected.resize(3);
  expected.added(0, 3);
  expected.updatePriorities([0, 2], [2, 3]);
  assertEquals(sampler.save(), expected.save());
  // Other arrays, and arrays with other slots by now, are taken at their word.
  sampler.updatePriorities(slots.slice(), [2, 9, 3]);
  expected.updatePriorities([1], [9]);
  assertEquals(sampler.save(), expected.save());
  slots[1] = 2;
  sampler.updatePriorities(slots.subarray(0), [2, 3, 4]);
  slots[0] = 1;
  sampler.updatePriorities(slots, [5, 6, 7]);
  expected.updatePriorities([0, 2], [2, 4]);
  expected.updatePriorities([1, 2], [5, 7]);
  assertEquals(sampler.save(), expected.save());
});

test("after a load all rows are others than those drawn before", (kind) => {
  const sampler = holding(kind, [1, 2, 3]);
  const state = sampler.save();
  const { slots } = draw(sampler, 3);
  sampler.load(state);
  sampler.updatePriorities(slots, [7, 8, 9]);
  assertEquals(sampler.save(), state);
});

test("of a slot that comes twice the last priority stays", (kind) => {
  const twice = holding(kind, someSlots);
  twice.updatePriorities([3, 0, 3], [1, 2, 0.25]);
  const once = holding(kind, someSlots);
  once.updatePriorities([0, 3], [2, 0.25]);
  assertEquals(draw(twice, 50), draw(once, 50));
});

test("bad priorities change nothing", (kind) => {
  const sampler = holding(kind, someSlots);
  const before = sampler.save();
  const wrong: [number[], number[], string][] = [
    [[0, 3], [9, 0], "slot 3 to 0: expected a finite number above 0"],
    [[0, 3], [9, -1], "slot 3 to -1: expected a finite number above 0"],
    [[0, 3], [9, NaN], "slot 3 to NaN: expected a finite number above 0"],
    [[0, 3], [9, Infinity], "slot 3 to Infinity"],
    [[0, 10], [9, 9], "Cannot update the priority of slot 10: expected 0 to 9"],
    [[0, -1], [9, 9], "Cannot update the priority of slot -1"],
    [[0, 0.5], [9, 9], "Cannot update the priority of slot 0.5"],
    [[0, 3], [9], "Cannot update the priorities of 2 slots with 1"],
  ];
  for (const [slots, priorities, message] of wrong) {
    assertThrows(
      () => sampler.updatePriorities(slots, priorities),
      RangeError,
      message,
    );
  }
  assertEquals(sampler.save(), before);
});

test("where no row is held none is drawn", (kind) => {
  const sampler = kind.make();
  assertThrows(() => draw(sampler, 3), RangeError, "Cannot sample 3 rows");
  sampler.resize(5);
  sampler.added(0, 2);
  sampler.removed(0, 2);
  assertThrows(() => draw(sampler, 3), RangeError, "Cannot sample 3 rows");
});

test("more slots leave the others as they are", (kind) => {
  const grown = holding(kind, someSlots);
  grown.resize(40);
  assertEquals(draw(grown, 50), draw(holding(kind, someSlots), 50));
  grown.added(39, 1);
  assertEquals(draw(grown, 200).slots.includes(39), true);
});

test("a loaded sampler goes on as the saved one", (kind) => {
  const change = fc.oneof(
    fc.record({ add: fc.nat(9) }),
    fc.record({ remove: fc.nat(9) }),
    fc.record({
      update: fc.tuple(
        fc.nat(9),
        fc.double({ min: 1e-9, max: 9, noNaN: true }),
      ),
    }),
  );
  function apply(
    sampler: PrioritySampler,
    it: typeof change extends fc.Arbitrary<infer T> ? T : never,
  ) {
    if ("add" in it) sampler.added(it.add, 1);
    else if ("remove" in it) sampler.removed(it.remove, 1);
    else sampler.updatePriorities([it.update[0]], [it.update[1]]);
  }
  fc.assert(
    fc.property(fc.array(change), fc.array(change), (before, after) => {
      const [saved, loaded] = [kind.make(), kind.make({ alpha: 1 })];
      for (const sampler of [saved, loaded]) sampler.resize(10);
      for (const it of before) apply(saved, it);
      loaded.added(3, 4);
      const state = saved.save();
      loaded.load(state);
      for (const it of [...after, { add: 0 }]) {
        for (const sampler of [saved, loaded]) apply(sampler, it);
      }
      assertEquals(loaded.save(), saved.save());
      assertEquals(draw(loaded, 20), draw(saved, 20));
    }),
    { numRuns: 1000 },
  );
});

test("states of other samplers are not loaded", (kind) => {
  const sampler = holding(kind, someSlots);
  const before = sampler.save() as Record<string, StateTree>;
  const numbers = kind.name === "proportional" ? "leaves" : "priorities";
  const wrong: [StateTree | null, string][] = [
    [null, "with alpha undefined: expected what save() gave"],
    [{ ...before, alpha: -1 }, "with alpha -1"],
    [{ ...before, [numbers]: [] }, `without '${numbers}'`],
    [{ ...before, [numbers]: new Float64Array(11) }, "Cannot load"],
    [{ ...before, [numbers]: Float64Array.of(1, NaN) }, "NaN"],
    [{ ...before, [numbers]: Float64Array.of(1, -1) }, "-1"],
  ];
  for (const [state, message] of wrong) {
    assertThrows(() => sampler.load(state as StateTree), Error, message);
  }
  assertEquals(sampler.save(), before);
});

test("options are checked", ({ make }) => {
  assertThrows(() => make({ alpha: -1 }), RangeError, "alpha -1");
  assertThrows(() => make({ beta: Infinity }), RangeError, "beta Infinity");
});

Deno.test("weights are over those of the batch or the buffer alone", () => {
  const weightsOver = "all" as "batch";
  const message = "largest of 'all': expected 'batch' or 'buffer'";
  const make = () => new ProportionalSampler({ weightsOver });
  assertThrows(make, TypeError, message);
});

Deno.test("excludeLast never draws the row in the highest slot, unless alone", () => {
  const options = { excludeLast: true };
  const sampler = new ProportionalSampler(options);
  sampler.resize(4);
  const drawn = { slots: new Int32Array(99), weights: new Float32Array(99) };
  const context = {
    rows: { first: 0, length: 3, capacity: 4 },
    random: testRandom(1),
  };
  sampler.added(0, 1);
  sampler.draw(drawn, context);
  assertEquals(new Set(drawn.slots), new Set([0]));
  sampler.added(1, 2);
  sampler.draw(drawn, context);
  assertEquals(new Set(drawn.slots), new Set([0, 1]));
  sampler.removed(0, 1); // Wraps around: slots 1, 2, 3, and then 0.
  sampler.added(3, 1);
  sampler.added(0, 1);
  context.rows = { first: 1, length: 4, capacity: 4 };
  sampler.draw(drawn, context);
  assertEquals(new Set(drawn.slots), new Set([0, 1, 2]));
});

Deno.test("options of samplers and buffers that there are not are named", () => {
  const fields = { x: { shape: [], dtype: "float32" } } as const;
  const options = { capacity: 4, fields };
  const wrong = (more: object) => ({ ...options, ...more });
  assertRefused({
    "TypeError: Unknown option 'bata' of a sampler: did you mean 'beta'?": () =>
      new ProportionalSampler({ bata: 1 } as object),
    "TypeError: Unknown option 'excludeLast' of a sampler: expected one of alpha, beta":
      () => new RankBasedSampler({ excludeLast: true } as object),
    'TypeError: Cannot make a sampler with alpha "1": expected a number': () =>
      new RankBasedSampler({ alpha: "1" } as object),
    "TypeError: Unknown option 'alfa' of a prioritized replay buffer: did you mean 'alpha'?":
      () => new PrioritizedReplayBuffer(wrong({ alfa: 1 }) as typeof options),
    "TypeError: Unknown option 'sampler' of a prioritized replay buffer": () =>
      new PrioritizedReplayBuffer(
        wrong({ sampler: new UniformSampler() }) as typeof options,
      ),
    "TypeError: Unknown option 'replace' of a sampler: did you mean 'replacement'?":
      () => new UniformSampler({ replace: false } as object),
  });
});
