import fc from "fast-check";
import { runSequence } from "../testdata/random_operations.ts";

// 10,000 in tests/long.
Deno.test("2000 sequences of operations leave a buffer with what a naive model has", () => {
  fc.assert(fc.property(fc.nat(), runSequence), { numRuns: 2_000 });
});
