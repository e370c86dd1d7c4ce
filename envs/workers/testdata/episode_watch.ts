import { assertEquals, assertNotEquals } from "@std/assert";
import type { Batch, VecStep } from "@bellman/types";
import { ACTIONS, EPISODE_LENGTH, masksOf, type Seen } from "./fragile_env.ts";

/** Asserts that the masks of a row are those of what is seen there. */
function assertMasks(
  masks: Uint8Array | undefined,
  row: number,
  seen: Seen,
): void {
  const own = masks!.slice(row * ACTIONS, (row + 1) * ACTIONS);
  assertEquals(own, masksOf(seen));
}

function rowsOf(batch: Batch, row: number): Seen {
  const [copy, episode, steps] = (batch as Float64Array)
    .subarray(3 * row, 3 * row + 3);
  return { copy, episode, steps };
}

/**
 * Follows the episodes of the fragile environment from outside, and knows what
 * each step of each copy must be: the next one of its episode, its end, or the
 * one and only report that it broke.
 */
export class EpisodeWatch {
  #now: Seen[];
  /** How many episodes broke. */
  broken = 0;
  /** How many ended by themselves. */
  ended = 0;

  constructor(observations: Batch, numEnvs: number) {
    this.#now = Array.from({ length: numEnvs }, (_, i) => {
      const seen = rowsOf(observations, i);
      assertEquals([seen.copy, seen.steps], [i, 0]);
      return seen;
    });
  }

  /** Checks a step; gives the copies whose episodes broke in it. */
  see(step: VecStep): number[] {
    const broken = [...step.rewards.keys()]
      .filter((row) => this.#seeRow(step, row));
    this.broken += broken.length;
    return broken;
  }

  #seeRow(step: VecStep, row: number): boolean {
    const before = this.#now[row];
    const now = this.#now[row] = rowsOf(step.observations, row);
    const flags = [step.terminated[row], step.truncated[row]];
    assertEquals(now.copy, row);
    assertMasks(step.actionMasks, row, now);
    if (flags[1] === 1) {
      assertEquals([flags[0], step.rewards[row]], [0, 0]);
      assertEquals(rowsOf(step.finalObservations, row), before);
      assertMasks(step.finalActionMasks, row, before);
      this.#checkNew(now, before);
      return true;
    }
    const next = { ...before, steps: before.steps + 1 };
    assertEquals(step.rewards[row], next.steps);
    if (next.steps < EPISODE_LENGTH) {
      assertEquals(flags[0], 0);
      assertEquals(now, next);
    } else {
      assertEquals(flags[0], 1);
      assertEquals(rowsOf(step.finalObservations, row), next);
      assertMasks(step.finalActionMasks, row, next);
      this.#checkNew(now, before);
      this.ended++;
    }
    return false;
  }

  #checkNew(now: Seen, before: Seen): void {
    assertEquals(now.steps, 0);
    assertNotEquals(now.episode, before.episode);
  }
}
