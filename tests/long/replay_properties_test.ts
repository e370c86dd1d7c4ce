import fc from "fast-check";
import { runSequence } from "../../buffers/testdata/random_operations.ts";

Deno.test("10000 sequences of operations leave a buffer with what a naive model has", () => {
  fc.assert(fc.property(fc.nat(), runSequence), { numRuns: 10_000 });
});
