import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { CopyStreams } from "./_copy_streams.ts";
import { copySeeds } from "./copy_seeds.ts";
import { DEFAULT_SEED, SeededRandom } from "./random.ts";

/** The next number of each copy's stream. */
function draw(streams: CopyStreams, copies: number): number[] {
  return Array.from({ length: copies }, (_, i) => streams.of(i).uniform());
}

Deno.test("each copy draws from the stream of its own seed", () => {
  const streams = new CopyStreams();
  assertFalse(streams.areSeeded);
  streams.seed(3, 7);
  assert(streams.areSeeded);
  const expected = copySeeds(7, 3).map((it) => new SeededRandom(it).uniform());
  assertEquals(draw(streams, 3), expected);
});

Deno.test("streams go on without a seed, from the default one at first", () => {
  const [streams, continued] = [new CopyStreams(), new CopyStreams()];
  streams.seed(2);
  continued.seed(2, DEFAULT_SEED);
  assertEquals(draw(streams, 2), draw(continued, 2));
  streams.seed(2);
  assertEquals(draw(streams, 2), draw(continued, 2));
});

Deno.test("saved streams go on where they were", () => {
  const [streams, restored] = [new CopyStreams(), new CopyStreams()];
  streams.seed(2, [4, 5]);
  draw(streams, 2);
  restored.load(streams.save());
  assertEquals(draw(restored, 2), draw(streams, 2));
});

Deno.test("a seed for each copy, or one for all", () => {
  assertThrows(() => new CopyStreams().seed(3, [1, 2]), RangeError);
});
