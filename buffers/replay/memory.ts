import { MemoryColumn, MemoryStorage } from "../storage/memory_storage.ts";
import type { Storage } from "../storage/storage.ts";
import { FieldRows } from "./columns.ts";
import { Episodes } from "./episodes.ts";
import { FinalValues } from "./final_values.ts";
import type { SharedReplay } from "./options.ts";
import type { ReplayLayout, ReplaySchema } from "./plan.ts";
import { Ring } from "./ring.ts";
import { SHARED_RING_BYTES, SharedRing } from "./shared_ring.ts";

/** Memory of each replay buffer, for the parts of this package that read its rows. */
export const internals: WeakMap<object, ReplayMemory> = new WeakMap();

/** Rows of a replay buffer, and all that is known of them. */
export class ReplayMemory {
  readonly schema: ReplaySchema;
  readonly capacity: number;
  readonly numEnvs: number;
  /** Stored leaves. */
  readonly rows: readonly FieldRows[];
  /** Rows that may be drawn, of each writer. */
  readonly rings: readonly Ring[];
  /** Final values of each ring; empty without any. */
  readonly finals: readonly FinalValues[];
  readonly episodes: Episodes | undefined;
  /** Counters of each ring in shared memory; empty in memory of its own. */
  readonly links: readonly SharedRing[];
  /** Index of the ring that is written here. */
  readonly own: number;
  /** Rows that there is room for by now. */
  allocated: number;
  /** Memory of the links. */
  readonly #control: SharedArrayBuffer | undefined;
  /** Version of each ring at the last refresh. */
  readonly #versions: number[];

  /** Allocates memory, or takes that of another buffer. */
  constructor(
    schema: ReplaySchema,
    layout: ReplayLayout,
    storage: Storage | undefined,
  ) {
    const { shared } = layout;
    const message = typeof shared === "object" ? shared : undefined;
    this.schema = schema;
    this.capacity = layout.capacity;
    this.numEnvs = layout.numEnvs;
    this.allocated = layout.initialCapacity;
    this.rows = makeColumns(schema, layout, storage);
    this.rings = layout.rings.map((ring) => new Ring(ring));
    const { finalLeaves, episodes } = schema;
    this.finals = finalLeaves.length === 0
      ? []
      : this.rings.map((ring, i) =>
        new FinalValues(
          finalLeaves,
          ring,
          message?.finals[i] ?? shared !== false,
        )
      );
    this.episodes = episodes && new Episodes(this.rings, this.finals, {
      terminated: this.rows[episodes.terminated],
      truncated: this.rows[episodes.truncated],
    });
    const control = shared === false ? undefined : message?.control ??
      new SharedArrayBuffer(SHARED_RING_BYTES * this.rings.length);
    this.#control = control;
    this.links = control
      ? this.rings.map((_, i) => new SharedRing(control, i))
      : [];
    this.own = message?.writer ?? 0;
    this.#versions = this.rings.map(() => 0);
  }

  /** True where other workers may write and read. */
  get isShared(): boolean {
    return this.#control !== undefined;
  }

  /** Bytes that rows, and what is kept beside them, take up in memory. */
  get byteLength(): number {
    const arrays = [...this.rows.map(({ column }) => column), ...this.finals];
    const first = this.#control?.byteLength ?? 0;
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, first);
  }

  /** Makes room for so many rows. */
  resize(rows: number): void {
    this.allocated = rows;
    for (const leaf of this.rows) leaf.resize(rows);
  }

  /** Brings shared rings up to date. */
  refresh(): void {
    if (this.episodes !== undefined) this.episodes.missed = false;
    for (let i = 0; i < this.links.length; i++) {
      this.#versions[i] = this.links[i].refresh(this.rings[i], this.finals[i]);
    }
  }

  /** Tells whether rows that were read since the last refresh were there all along. */
  isIntact(slots: Int32Array): boolean {
    const { rings, links } = this;
    if (links.length > 0 && this.episodes?.missed) return false;
    for (let i = 0; i < links.length; i++) {
      const ring = rings[i];
      if (!links[i].isVersion(this.#versions[i])) return false;
      const gone = links[i].firstStep - ring.firstStep;
      if (gone <= 0) continue;
      for (const slot of slots) {
        if (slot < ring.base || slot >= ring.end) continue;
        if (ring.rowOf(slot) < gone * ring.numEnvs) return false;
      }
    }
    return true;
  }

  /** Returns its memory, for one of the writers. */
  share(writer: number): Omit<SharedReplay, "options"> {
    if (this.#control === undefined) {
      throw new TypeError(
        "Cannot share a buffer in memory of its own: expected the option 'shared'",
      );
    }
    if (this.rings[writer] === undefined) {
      throw new RangeError(
        `Cannot share with writer ${writer}: expected one of ${this.rings.length}, from 0 on`,
      );
    }
    return {
      writer,
      columns: this.rows.map(({ data }) => data!.buffer as SharedArrayBuffer),
      finals: this.finals.map(({ memory }) => memory),
      control: this.#control,
    };
  }

  /** Gives up all rows. */
  clear(): void {
    this.rings.forEach((ring, i) => {
      ring.setTotal(0);
      this.finals[i]?.clear();
      this.links[i]?.reset(ring, this.finals[i]);
    });
  }
}

/** Makes the columns of all fields; numbers that are looked along stay in memory. */
function makeColumns(
  { stored, episodes }: ReplaySchema,
  { shared, initialCapacity }: ReplayLayout,
  storage: Storage | undefined,
): FieldRows[] {
  const memory = new MemoryStorage({ shared: shared !== false });
  const { terminated, truncated, nStep } = episodes ?? {};
  const inMemory = [terminated, truncated, nStep?.reward];
  return stored.leaves.map((leaf) => {
    const { index, name, dtype, size } = leaf;
    const spec = { name, dtype, size };
    const from = inMemory.includes(index) ? memory : storage ?? memory;
    return new FieldRows(
      leaf,
      typeof shared === "object"
        ? new MemoryColumn(spec, shared.columns[index])
        : from.allocate(spec, initialCapacity),
    );
  });
}
