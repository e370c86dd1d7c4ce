import { assertEquals } from "@std/assert";
import { copyNumbers } from "./copy.ts";

Deno.test("numbers of any kind are copied from anywhere to anywhere", () => {
  for (const count of [1, 3, 300]) {
    for (const extra of [0, 5]) {
      const list = Array.from({ length: count + extra }, (_, i) => i % 251);
      for (
        const values of [list, Uint8Array.from(list), Float64Array.from(list)]
      ) {
        const target = new Float32Array(count + 2);
        copyNumbers(values, target, { from: extra, to: 1, count });
        assertEquals([...target], [0, ...list.slice(extra), 0]);
      }
    }
  }
});
