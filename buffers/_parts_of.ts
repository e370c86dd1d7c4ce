import type { ReplayParts } from "./_replay_parts.ts";

/** What a replay buffer consists of, for what works on its rows in this package. */
export const partsOf: WeakMap<object, ReplayParts> = new WeakMap();
