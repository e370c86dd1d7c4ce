import { assertEquals } from "@std/assert";
import { seedBytes } from "./_gymnasium_hosts.ts";

Deno.test("seeds are sent by their lowest 32 bits", () => {
  const seeds = [
    0,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    5 * 2 ** 32 + 7,
    2 ** 53 - 1,
  ];
  const sent = new BigUint64Array(seedBytes(seeds).buffer as ArrayBuffer);
  const low = [0, 2 ** 31, 2 ** 32 - 1, 0, 7, 2 ** 32 - 1];
  assertEquals([...sent], low.map(BigInt));
});
