import type { Algorithm } from "@bellman/agent";
import { ALGORITHMS } from "@bellman/runs/settings";

/** Algorithms that act in environments; others learn from recorded data alone. */
export const LIVE_ALGORITHMS: readonly Algorithm[] = ALGORITHMS
  .filter(({ meta }) => !meta.learnsFromData);
