import { assert, assertEquals } from "@std/assert";
import { blockSize } from "./block_size.ts";

Deno.test("blocks hold 16 or 8 channels where there are any", () => {
  assert([0, 8, 16].includes(blockSize()));
  assertEquals(blockSize(), blockSize());
});
