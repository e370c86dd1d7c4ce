import { assertEquals } from "@std/assert";
import { describeEvaluation, round } from "./evaluation.ts";
import { copiesFor } from "./training_copies.ts";

Deno.test("an evaluation is told in one line", () => {
  const result = {
    returns: [500, 480],
    lengths: [500, 480],
    meanReturn: 490,
    stdReturn: 10.123,
    minReturn: 480,
    maxReturn: 500,
    medianReturn: 490,
    meanLength: 490,
  };
  assertEquals(describeEvaluation(result), "490 ± 10.12 over 2 episodes");
  assertEquals(round(12.3456), "12.35");
});

Deno.test("no more copies play than there are episodes", () => {
  assertEquals(copiesFor(3), 3);
  assertEquals(copiesFor(1000), 20);
});
