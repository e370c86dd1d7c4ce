import { assertEquals } from "@std/assert";
import { SeededRandom } from "../../random.ts";
import { randomActions } from "../../testdata/play.ts";
import type { Batch, VecEnv } from "@bellman/types";

/** Where two batches of bytes differ; nothing but numbers is shown of them. */
export function assertSameBytes(one: Batch, other: Batch): void {
  const [a, b] = [one as Uint8Array, other as Uint8Array];
  assertEquals(a.length, b.length);
  assertEquals(a.findIndex((it, i) => it !== b[i]), -1);
}

/** Steps two vector environments with the same random actions. */
export function assertSameCourse(
  one: VecEnv,
  other: VecEnv,
  { steps, seed = 0 }: { steps: number; seed?: number },
): { ended: number; games: number } {
  const random = new SeededRandom(seed);
  const counts = { ended: 0, games: 0 };
  for (let i = 0; i < steps; i++) {
    const actions = randomActions(one, random);
    const a = one.step(actions), b = other.step(actions);
    assertSameBytes(a.observations, b.observations);
    assertEquals(a.rewards, b.rewards);
    assertEquals(a.terminated, b.terminated);
    assertEquals(a.truncated, b.truncated);
    assertEquals(a.episodes, b.episodes);
    counts.games += a.episodes?.length ?? 0;
    for (let row = 0; row < one.numEnvs; row++) {
      if ((a.terminated[row] | a.truncated[row]) === 0) continue;
      counts.ended++;
      assertSameBytes(
        rowOf(a.finalObservations, row, one),
        rowOf(b.finalObservations, row, one),
      );
    }
  }
  return counts;
}

function rowOf(batch: Batch, row: number, { numEnvs }: VecEnv): Uint8Array {
  const bytes = batch as Uint8Array, size = bytes.length / numEnvs;
  return bytes.subarray(row * size, (row + 1) * size);
}
