import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Arena, spaceFor } from "./_arena.ts";

Deno.test("arrays of an arena are aligned, all 0 and apart from each other", () => {
  fc.assert(fc.property(fc.array(fc.nat(100), { minLength: 1 }), (sizes) => {
    const space = sizes.reduce((sum, size) => sum + spaceFor(size), 0);
    const arena = Arena.of(space)!;
    assert(arena.size >= space);
    const arrays = sizes.map((size) => arena.take(size));
    assertEquals(arena.used, space);
    arrays.forEach((array, i) => {
      assertEquals(array.byteOffset % 64, 0);
      assertEquals([...array], new Array(sizes[i]).fill(0));
      array.fill(i + 1);
    });
    arrays.forEach((array, i) => assert(array.every((it) => it === i + 1)));
  }));
});

Deno.test("what was taken back is given out again", () => {
  const arena = Arena.of(64)!;
  arena.take(16);
  const { used } = arena;
  const first = arena.take(5);
  arena.reset(used);
  assertEquals(arena.take(5).byteOffset, first.byteOffset);
});

Deno.test("more than 32 bits can address is no arena", () => {
  assertEquals(Arena.of(2 ** 31), undefined);
});
