import { assert, assertEquals, assertFalse } from "@std/assert";
import { copyStateTree, isStateRecord, isTypedArray } from "./state_tree.ts";

Deno.test("a copy shares nothing", () => {
  const tree = { a: [new Float32Array([1]), { b: 2 }], c: null, d: "e" };
  const copy = copyStateTree(tree) as typeof tree;
  assertEquals(copy, tree);
  (tree.a[0] as Float32Array)[0] = 9;
  (tree.a[1] as { b: number }).b = 9;
  assertEquals(copy, { a: [new Float32Array([1]), { b: 2 }], c: null, d: "e" });
});

Deno.test("kinds of nodes are told apart", () => {
  for (const node of [null, 1, "a", true, [], new Uint8Array(1), undefined]) {
    assertFalse(isStateRecord(node));
  }
  assert(isStateRecord({}));
  assertFalse(isTypedArray(new Int16Array(1)));
  assertFalse(isTypedArray(new DataView(new ArrayBuffer(1))));
});
