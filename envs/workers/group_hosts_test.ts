import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { splitEnvs } from "./group_hosts.ts";

Deno.test("groups follow each other and differ by one copy at most", () => {
  const sizes = fc.integer({ min: 1, max: 200 }).chain((numEnvs) =>
    fc.tuple(fc.constant(numEnvs), fc.integer({ min: 1, max: numEnvs }))
  );
  fc.assert(fc.property(sizes, ([numEnvs, count]) => {
    const groups = splitEnvs(numEnvs, count);
    assertEquals(groups.length, count);
    let next = 0;
    for (const group of groups) {
      assertEquals(group.first, next);
      next += group.numEnvs;
    }
    assertEquals(next, numEnvs);
    const counts = groups.map((it) => it.numEnvs);
    assertEquals(Math.max(...counts) - Math.min(...counts) <= 1, true);
  }));
});

Deno.test("groups without copies are refused", () => {
  for (
    const [numEnvs, groups, message] of [
      [0, 1, "Cannot host 0 environments"],
      [1.5, 1, "Cannot host 1.5 environments"],
      [2, 0, "Cannot host 0 groups"],
      [2, 3, "Cannot host 2 environments in 3 groups: expected at most one"],
    ] as const
  ) {
    assertThrows(() => splitEnvs(numEnvs, groups), RangeError, message);
  }
});
