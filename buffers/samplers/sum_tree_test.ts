import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { SumTree } from "./sum_tree.ts";

/** Whole numbers, whose sums are exact in any order; many of them 0. */
const wholes = fc.array(fc.nat(4), {
  minLength: 1,
  maxLength: 700,
  size: "max",
});

/** The first index whose running sum exceeds the mass. */
function naiveFind(leaves: ArrayLike<number>, mass: number): number {
  let sum = 0;
  for (let i = 0; i < leaves.length; i++) {
    sum += leaves[i];
    if (sum > mass) return i;
  }
  throw new Error("the mass is not below the total");
}

function assertSame(tree: SumTree, leaves: number[]) {
  assertEquals([...tree.leaves], leaves);
  assertEquals(tree.total, leaves.reduce((sum, leaf) => sum + leaf, 0));
  assertEquals(tree.min, Math.min(Infinity, ...leaves.filter((it) => it > 0)));
  assertEquals(tree.max, Math.max(...leaves));
  for (let mass = 0; mass < tree.total; mass += 1 + (tree.total >> 4)) {
    assertEquals(tree.find(mass), naiveFind(leaves, mass));
  }
}

Deno.test("any changes give the tree of the leaves that there are", () => {
  const index = fc.nat(10_000);
  const change = fc.oneof(
    fc.record({ set: fc.tuple(index, fc.nat(9)) }),
    fc.record({ fill: fc.tuple(index, index, fc.nat(9)) }),
  );
  fc.assert(
    fc.property(wholes, fc.array(change), (initial, changes) => {
      const leaves = [...initial];
      const n = leaves.length;
      const tree = new SumTree(n);
      tree.load(leaves);
      for (const it of changes) {
        if ("set" in it) {
          tree.set(it.set[0] % n, it.set[1]);
          leaves[it.set[0] % n] = it.set[1];
        } else {
          const [a, b, value] = it.fill;
          const range = { first: a % n, end: Math.max(a, b % (n + 1)) };
          range.end = Math.min(n, range.end);
          tree.fill(value, range);
          leaves.fill(value, range.first, range.end);
        }
      }
      assertSame(tree, leaves);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("sums follow from the leaves alone, whatever they were before", () => {
  const reals = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), {
    minLength: 1,
    maxLength: 600,
    size: "max",
  });
  fc.assert(fc.property(reals, (leaves) => {
    const changed = new SumTree(leaves.length);
    changed.fill(1e9 / 3, { first: 0, end: leaves.length });
    leaves.forEach((leaf, i) => changed.set(i, leaf));
    const loaded = new SumTree(leaves.length);
    loaded.load(leaves);
    assertEquals(changed.total, loaded.total);
    assertEquals(changed.max, Math.max(...leaves));
    const sum = leaves.reduce((sum, leaf) => sum + leaf, 0);
    assertAlmostEquals(changed.total, sum, 1e-12 * sum);
  }));
});

Deno.test("what is found is above 0, and at the mass but for rounding", () => {
  const leaf = fc.oneof(
    fc.constant(0),
    fc.double({ min: 1e-30, max: 1, noNaN: true }),
  );
  const leaves = fc.array(leaf, { minLength: 1, maxLength: 600, size: "max" });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(leaves, share, (leaves, share) => {
      fc.pre(leaves.some((it) => it > 0));
      const tree = new SumTree(leaves.length);
      tree.load(leaves);
      const mass = share * tree.total;
      const found = tree.find(mass);
      assertEquals(leaves[found] > 0, true);
      const before = leaves.slice(0, found).reduce((sum, it) => sum + it, 0);
      const slack = 1e-12 * tree.total;
      assertEquals(before <= mass + slack, true);
      assertEquals(before + leaves[found] >= mass - slack, true);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("masses of the total and above find the last leaf above 0", () => {
  const tree = new SumTree(5000);
  tree.set(0, 0.1);
  tree.set(17, 0.2);
  for (const mass of [tree.total, 1, Infinity]) {
    assertEquals(tree.find(mass), 17);
  }
});

Deno.test("many masses are found as each of them", () => {
  const tree = new SumTree(300);
  tree.load(Array.from({ length: 300 }, (_, i) => i % 7));
  const masses = [0, 5, 100, 3, 850.5];
  const found = new Int32Array(masses.length);
  tree.findMany(masses, found);
  assertEquals([...found], masses.map((mass) => naiveFind(tree.leaves, mass)));
});

Deno.test("fewer leaves than there are leave the others at 0", () => {
  const tree = new SumTree(40);
  tree.fill(1, { first: 0, end: 40 });
  tree.load([2, 3]);
  assertEquals([tree.total, tree.max, tree.leaves[2]], [5, 3, 0]);
});

Deno.test("what cannot be set changes nothing", () => {
  const tree = new SumTree(3);
  tree.load([1, 2, 3]);
  const wrong: [() => void, string][] = [
    [() => tree.set(3, 1), "Cannot set leaf 3 of a tree with leaves 0 to 2"],
    [() => tree.set(0.5, 1), "Cannot set leaf 0.5 of"],
    [() => tree.set(0, -1), "Cannot set a leaf to -1: expected a number of 0"],
    [() => tree.set(1, NaN), "Cannot set a leaf to NaN"],
    [() => tree.set(-1, 7), "Cannot set leaf -1"],
    [() => tree.fill(1, { first: 1, end: 4 }), "Cannot set leaf 3"],
    [() => tree.fill(Infinity, { first: 0, end: 1 }), "a leaf to Infinity"],
    [() => tree.load([1, 1, 1, 1]), "Cannot load 4 leaves into a tree of 3"],
    [() => tree.load([9, -9]), "Cannot set a leaf to -9"],
    [() => tree.find(-1), "Cannot find the leaf at mass -1: expected 0 to 6"],
    [() => tree.find(NaN), "Cannot find the leaf at mass NaN"],
  ];
  for (const [act, message] of wrong) assertThrows(act, RangeError, message);
  assertEquals([...tree.leaves, tree.total], [1, 2, 3, 6]);
});

Deno.test("in a tree of zeros nothing is found", () => {
  const tree = new SumTree(20);
  assertEquals([tree.total, tree.max, tree.min], [0, 0, Infinity]);
  assertThrows(() => tree.find(0), RangeError, "as all 20 leaves are 0");
  assertThrows(() => new SumTree(0), RangeError, "Cannot make a tree of 0");
});
