import { Episodes, type Flags } from "./episodes.ts";
import { LeafRows } from "./columns.ts";
import { MemoryColumn, MemoryStorage } from "../storage/memory_storage.ts";
import type { ReplayLayout, ReplaySchema } from "./plan.ts";
import { Ring, type RingOptions } from "./ring.ts";
import { RowWriter } from "./write.ts";
import { SHARED_RING_BYTES, SharedRing } from "./shared_ring.ts";
import { type SharedSide, SideValues } from "./final_values.ts";
import type { SharedReplay } from "./options.ts";
import type { Column, Storage } from "../storage/storage.ts";

/** What a replay buffer consists of. */
export interface ReplayParts {
  readonly schema: ReplaySchema;
  /** Stored leaves. */
  readonly rows: readonly LeafRows[];
  /** What may be drawn of each writer's rows. */
  readonly rings: readonly Ring[];
  /** Next values at the side of each ring; empty without any. */
  readonly sides: readonly SideValues[];
  readonly episodes: Episodes | undefined;
  /** Writes to one of the rings. */
  readonly writer: RowWriter;
  /** Of each ring, where memory is shared. */
  readonly links: readonly SharedRing[];
  /** The memory of `links`. */
  readonly control: SharedArrayBuffer | undefined;
}

/** What decides over the parts. */
interface PartOptions {
  readonly layout: ReplayLayout;
  readonly storage: Storage | undefined;
  /** Rows that there is room for at first. */
  readonly allocated: number;
  /** Makes room for so many rows. */
  readonly reserve: (rows: number) => void;
}

/** Allocates the parts, or finds them in the memory of another buffer. */
export function makeParts(
  schema: ReplaySchema,
  { layout, storage, allocated, reserve }: PartOptions,
): ReplayParts {
  const { shared } = layout;
  const memory = typeof shared === "object" ? shared : undefined;
  const rows = makeRows(schema, { storage, allocated, shared });
  const rings = layout.rings.map((ring) => new Ring(ring));
  const flags = flagsOf(schema, rows);
  const sides = makeSides(schema, rings, shared);
  const control = shared
    ? memory?.control ?? new SharedArrayBuffer(SHARED_RING_BYTES * rings.length)
    : undefined;
  const links = control ? rings.map((_, i) => new SharedRing(control, i)) : [];
  const own = memory?.writer ?? 0;
  // Where others read, what is written is one thing and what they see another.
  const ring = control ? writersRing(layout.rings[own]) : rings[own];
  const side = control && sides.length > 0
    ? new SideValues(schema.sideLeaves, ring, sides[own].memory)
    : sides[own];
  const writer = new RowWriter({
    ring,
    rows,
    origins: schema.origins,
    flags,
    side,
    link: links[own],
    reserve,
  });
  const episodes = flags && new Episodes(rings, sides, flags);
  return { schema, rows, rings, sides, episodes, writer, links, control };
}

function writersRing(options: RingOptions): Ring {
  return new Ring({ ...options, lag: 0 });
}

function makeRows(
  schema: ReplaySchema,
  { storage, allocated, shared }: {
    storage: Storage | undefined;
    allocated: number;
    shared: boolean | SharedReplay;
  },
): LeafRows[] {
  const memory = new MemoryStorage({ shared: shared !== false });
  const { terminated, truncated, nStep } = schema.episodes ?? {};
  const inMemory = [terminated, truncated, nStep?.reward];
  return schema.stored.leaves.map((leaf) => {
    const { index, name, dtype, size } = leaf;
    const spec = { name, dtype, size };
    const from = inMemory.includes(index) ? memory : storage ?? memory;
    const column: Column = typeof shared === "object"
      ? new MemoryColumn(spec, shared.columns[index])
      : from.allocate(spec, allocated);
    return new LeafRows(leaf, column);
  });
}

function makeSides(
  { sideLeaves }: ReplaySchema,
  rings: readonly Ring[],
  shared: boolean | SharedReplay,
): SideValues[] {
  if (sideLeaves.length === 0) return [];
  const memoryOf = (i: number): SharedSide | true | undefined =>
    typeof shared === "object" ? shared.sides[i] : shared || undefined;
  return rings.map((ring, i) => new SideValues(sideLeaves, ring, memoryOf(i)));
}

function flagsOf(
  { episodes }: ReplaySchema,
  rows: readonly LeafRows[],
): Flags | undefined {
  return episodes && {
    terminated: rows[episodes.terminated],
    truncated: rows[episodes.truncated],
  };
}

/**
 * Reads of rows that workers write to meanwhile: what is read is only taken if
 * none of it was overwritten until then.
 */
export class SharedReads {
  readonly #parts: ReplayParts;
  readonly #versions: number[];

  constructor(parts: ReplayParts) {
    this.#parts = parts;
    this.#versions = parts.rings.map(() => 0);
  }

  /** Finds how far the writers are by now. */
  begin(): void {
    const { rings, sides, links, episodes } = this.#parts;
    if (episodes !== undefined) episodes.missed = false;
    for (let i = 0; i < rings.length; i++) {
      this.#versions[i] = links[i].refresh(rings[i], sides[i]);
    }
  }

  /** Whether rows that were read since then were there all along. */
  isIntact(slots: Int32Array): boolean {
    const { rings, links, episodes } = this.#parts;
    if (episodes?.missed) return false;
    for (let i = 0; i < rings.length; i++) {
      const ring = rings[i];
      if (!links[i].isVersion(this.#versions[i])) return false;
      const gone = links[i].firstStep - ring.firstStep;
      if (gone <= 0) continue;
      const rows = gone * ring.numEnvs;
      for (const slot of slots) {
        const row = slot - ring.base;
        if (row < 0 || row >= ring.rows) continue;
        const from = row - ring.first;
        if ((from < 0 ? from + ring.rows : from) < rows) return false;
      }
    }
    return true;
  }
}

/** What a replay buffer consists of, for what works on its rows in this package. */
export const partsOf: WeakMap<object, ReplayParts> = new WeakMap();
