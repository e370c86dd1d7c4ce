import { assertEquals } from "@std/assert";
import { declarationsOf, leavesOf, recordsOf, treeOf } from "./tree.ts";

const isNumber = (it: unknown): it is number => typeof it === "number";

Deno.test("leaves are named by their keys, undefined ones left out", () => {
  const leaves = leavesOf({ a: { b: 1, c: undefined }, d: 2 }, isNumber);
  assertEquals(leaves, [
    { name: "a.b", path: ["a", "b"], leaf: 1 },
    { name: "d", path: ["d"], leaf: 2 },
  ]);
});

Deno.test("a tree of leaves has the records of another", () => {
  const like = { a: { b: { shape: [], dtype: "float32" } }, empty: { of: {} } };
  assertEquals(recordsOf(like), { a: {}, empty: { of: {} } });
  const leaves = declarationsOf(like).map(({ path }) => ({ path, leaf: 1 }));
  assertEquals(treeOf(leaves, like), { a: { b: 1 }, empty: { of: {} } });
  assertEquals(treeOf(leaves), { a: { b: 1 } });
});

Deno.test("objects of a class are records by what they hold", () => {
  class Batch {
    rewards = 1;
  }
  assertEquals(
    leavesOf({ batch: new Batch() }, isNumber)[0].name,
    "batch.rewards",
  );
});
