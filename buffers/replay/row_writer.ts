import type { Sampler } from "../samplers/sampler.ts";
import type { FinalValues } from "./final_values.ts";
import type { ReplayMemory } from "./replay_memory.ts";

/**
 * Writes the rows of a replay buffer, the newest over the oldest, and tells its
 * sampler which may be drawn.
 */
export class RowWriter {
  readonly #memory: ReplayMemory;
  readonly #sampler: Sampler;
  readonly #place = { from: 0, count: 0 };

  constructor(memory: ReplayMemory, sampler: Sampler) {
    this.#memory = memory;
    this.#sampler = sampler;
    sampler.resize?.(memory.ring.capacity);
  }

  /** Writes rows of checked values, one array for each added leaf. */
  write(values: readonly ArrayLike<number>[], rows: number): void {
    const { ring } = this.#memory, { total, firstStep } = ring;
    const end = total + rows / ring.numEnvs;
    while (ring.total < end) {
      const room = ring.steps - ring.total % ring.steps;
      const count = Math.min(end - ring.total, room);
      this.#writeSteps(values, ring.total - total, count);
    }
    this.#tell("removed", firstStep, Math.min(ring.firstStep, total));
    this.#tell("added", Math.max(total, ring.firstStep), end);
  }

  /** Notifies the sampler of steps, in one or two parts that do not wrap. */
  #tell(what: "added" | "removed", first: number, end: number): void {
    if (first >= end) return;
    const { ring } = this.#memory, { steps, numEnvs } = ring;
    const count = Math.min(end - first, steps - first % steps);
    this.#sampler[what](ring.slotOf(first), count * numEnvs);
    if (count === end - first) return;
    this.#sampler[what](0, (end - first - count) * numEnvs);
  }

  /** Writes steps that lie side by side; their values begin at step `from`. */
  #writeSteps(
    values: readonly ArrayLike<number>[],
    from: number,
    steps: number,
  ): void {
    const { ring, finals, rows, schema: { origins } } = this.#memory;
    const slot = ring.slotOf(ring.total), count = steps * ring.numEnvs;
    finals?.evict(slot, count);
    const place = this.#place, first = from * ring.numEnvs;
    // Files keep all fields of a row together.
    const together = this.#memory.isPersistent ? 1 : count;
    for (let row = 0; row < count; row += together) {
      place.from = first + row;
      place.count = together;
      for (let i = 0; i < rows.length; i++) {
        rows[i].write(slot + row, values[origins[i]], place);
      }
    }
    place.from = first;
    place.count = count;
    if (finals !== undefined) this.#keepNext(finals, values, slot);
    ring.setTotal(ring.total + steps);
  }

  /** Keeps the values after steps that ended an episode, and after the newest. */
  #keepNext(
    finals: FinalValues,
    values: readonly ArrayLike<number>[],
    slot: number,
  ): void {
    const { episodes, ring: { numEnvs } } = this.#memory;
    const { from, count } = this.#place;
    for (let row = 0; row < count; row++) {
      if (episodes!.ended(slot + row)) {
        finals.push(slot + row, values, from + row);
      }
    }
    finals.setNewest(values, from + count - numEnvs);
  }

  /** Gives up all rows. */
  clear(): void {
    const { ring } = this.#memory;
    this.#tell("removed", ring.firstStep, ring.total);
    this.#memory.clear();
  }
}
