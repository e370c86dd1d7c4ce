import type { ReplayCore } from "./_replay_core.ts";
import { checkRing, loadRing, saveRing } from "./_ring_state.ts";
import type { Accumulator } from "./accumulator.ts";
import type { ReplayBufferState } from "./replay_buffer_state.ts";

/** What a buffer's state is made of. */
export interface Saved {
  readonly core: ReplayCore;
  readonly accumulator: Accumulator | undefined;
}

/** Everything that a buffer holds, with or without a copy of its rows. */
export function saveReplay(
  { core, accumulator }: Saved,
  copy: boolean,
): ReplayBufferState {
  core.refresh();
  const { capacity, numEnvs, allocated, parts, sampler, reservoir } = core;
  return {
    capacity,
    numEnvs,
    allocated,
    seen: reservoir?.seen ?? 0,
    rings: parts.rings.map((_, i) => saveRing(parts, i, copy)),
    sampler: sampler.save(),
    accumulator: accumulator?.save() ?? null,
  };
}

/** Takes over a state, or throws and changes nothing. */
export function loadReplay(
  { core, accumulator }: Saved,
  state: ReplayBufferState,
): void {
  const { parts, capacity } = core;
  core.refresh();
  checkSizes(state, core);
  const rings = state.rings.map((ring, i) =>
    checkRing(ring, parts, parts.rings[i])
  );
  core.reserve(Math.min(capacity, state.allocated));
  loadPlugins({ core, accumulator }, state);
  rings.forEach((ring, i) => loadRing(parts, i, ring));
  if (core.reservoir !== undefined) core.reservoir.seen = state.seen;
  core.feed.skip();
}

function checkSizes(state: ReplayBufferState, core: ReplayCore): void {
  if (typeof state !== "object" || !Array.isArray(state?.rings)) {
    throw new TypeError(
      `Cannot load a buffer from ${state}: expected what save() gave`,
    );
  }
  checkSame("capacity", state.capacity, core.capacity);
  checkSame("numEnvs", state.numEnvs, core.numEnvs);
  checkSame("writers", state.rings.length, core.parts.rings.length);
  checkCounter("allocated", state.allocated);
  checkCounter("seen", state.seen);
}

function checkSame(name: string, saved: number, own: number): void {
  if (saved === own) return;
  throw new RangeError(
    `Cannot load a buffer with ${name} ${saved} into one with ${own}`,
  );
}

function checkCounter(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new TypeError(
    `Cannot load a buffer with ${name} ${value}: expected what save() gave`,
  );
}

/** Loads what may refuse its state, both or none. */
function loadPlugins(
  { core: { sampler }, accumulator }: Saved,
  state: ReplayBufferState,
): void {
  const before = accumulator && sampler.save();
  sampler.load(state.sampler);
  try {
    if (state.accumulator) accumulator?.load(state.accumulator);
  } catch (error) {
    sampler.load(before!);
    throw error;
  }
}
