import { Episodes, type Flags } from "./_episodes.ts";
import { LeafRows } from "./_leaf_rows.ts";
import { MemoryColumn } from "./_memory_column.ts";
import type { ReplayLayout } from "./_replay_layout.ts";
import type { ReplaySchema } from "./_replay_schema.ts";
import { Ring, type RingOptions } from "./_ring.ts";
import { RowWriter } from "./_row_writer.ts";
import { SHARED_RING_BYTES, SharedRing } from "./_shared_ring.ts";
import { type SharedSide, SideValues } from "./_side_values.ts";
import { MemoryStorage } from "./memory_storage.ts";
import type { SharedReplay } from "./shared_replay.ts";
import type { Column, Storage } from "./storage.ts";

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
export interface PartOptions {
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
