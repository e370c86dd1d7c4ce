import { FinalValues, type SharedRing } from "./final_values.ts";
import type { ReplayMemory } from "./memory.ts";
import { Ring, type SamplerFeed } from "./ring.ts";

/** Writes rows to one ring of a replay buffer, the newest over the oldest. */
export class RowWriter {
  readonly #memory: ReplayMemory;
  readonly #feed: SamplerFeed;
  readonly #ring: Ring;
  readonly #finals: FinalValues | undefined;
  readonly #link: SharedRing | undefined;
  readonly #place = { from: 0, count: 0 };

  constructor(memory: ReplayMemory, feed: SamplerFeed) {
    const { schema, own } = memory;
    const ring = memory.rings[own], finals = memory.finals[own];
    this.#memory = memory;
    this.#feed = feed;
    this.#link = memory.links[own];
    // Readers of shared memory see fewer steps than are written.
    this.#ring = this.#link ? new Ring({ ...ring, lag: 0 }) : ring;
    this.#finals = this.#link && finals
      ? new FinalValues(schema.finalLeaves, this.#ring, finals.memory)
      : finals;
  }

  /** Makes room for rows, by doubling. */
  reserve(rows: number): void {
    const { allocated, capacity } = this.#memory;
    if (rows <= allocated) return;
    this.#memory.resize(Math.max(rows, Math.min(capacity, 2 * allocated)));
    this.#feed.resize(this.#memory.allocated);
  }

  /** Writes rows of checked values, one array for each added leaf. */
  write(values: readonly ArrayLike<number>[], rows: number): void {
    const ring = this.#ring;
    this.#link?.refresh(ring, this.#finals);
    const steps = rows / ring.numEnvs;
    for (let done = 0; done < steps;) {
      const room = ring.steps - ring.total % ring.steps;
      const count = Math.min(steps - done, room);
      this.#writeSteps(values, done, count);
      done += count;
    }
    // Of a shared ring the sampler hears when rows are drawn.
    if (this.#link === undefined) this.#feed.tell();
  }

  /** Writes steps that lie side by side; their values begin at step `from`. */
  #writeSteps(
    values: readonly ArrayLike<number>[],
    from: number,
    steps: number,
  ): void {
    const ring = this.#ring, finals = this.#finals, link = this.#link;
    const { numEnvs } = ring;
    const slot = ring.slotOf(ring.total), rows = steps * numEnvs;
    this.reserve(slot - ring.base + rows);
    link?.retire(ring.firstDrawable(ring.total + steps));
    finals?.evict(slot, rows);
    this.#writeRows(values, from * numEnvs, { slot, count: rows });
    if (finals !== undefined) this.#keepNext(finals, values, from, steps);
    ring.setTotal(ring.total + steps);
    link?.publish(ring, finals);
  }

  /** Writes rows of values from `from` on to slots from `slot` on. */
  #writeRows(
    values: readonly ArrayLike<number>[],
    from: number,
    { slot, count }: { slot: number; count: number },
  ): void {
    const { rows, schema: { origins } } = this.#memory;
    this.#place.from = from;
    this.#place.count = count;
    for (let i = 0; i < rows.length; i++) {
      rows[i].write(slot, values[origins[i]], this.#place);
    }
  }

  /** Keeps the values after steps that ended an episode, and after the newest. */
  #keepNext(
    finals: FinalValues,
    values: readonly ArrayLike<number>[],
    from: number,
    steps: number,
  ): void {
    const { total, numEnvs } = this.#ring;
    const slot = this.#ring.slotOf(total);
    const first = from * numEnvs, rows = steps * numEnvs;
    const episodes = this.#memory.episodes!;
    for (let row = 0; row < rows; row++) {
      if (!episodes.ended(slot + row)) continue;
      this.#makeRoom(finals);
      finals.push(slot + row, values, first + row);
    }
    finals.setNewest(values, first + rows - numEnvs);
  }

  #makeRoom(finals: FinalValues): void {
    if (!finals.full) return;
    const link = this.#link;
    link?.changeVersion();
    finals.grow();
    link?.publish(this.#ring, finals);
    link?.changeVersion();
  }

  /** Marks the newest step's episodes as truncated if they have not ended. */
  truncate(): void {
    const ring = this.#ring, finals = this.#finals;
    const { episodes } = this.#memory;
    this.#link?.refresh(ring, finals);
    if (episodes === undefined || ring.total === 0) return;
    const newest = ring.slotOf(ring.total - 1);
    for (let env = 0; env < ring.numEnvs; env++) {
      const slot = newest + env;
      if (episodes.ended(slot)) continue;
      episodes.truncated[slot] = 1;
      if (finals === undefined) continue;
      this.#makeRoom(finals);
      finals.pushNewest(slot, env);
    }
    this.#link?.publish(ring, finals);
  }
}
