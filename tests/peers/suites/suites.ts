/** What is compared with which peers, and what is wanted of the ratio. */
import { ALGORITHMS } from "./algorithms.ts";
import { BUFFERS } from "./buffers.ts";
import { ENVIRONMENTS } from "./environments.ts";
import type { Suite } from "./suite.ts";

/** Every suite by name. */
export const SUITES: Readonly<Record<string, Suite>> = {
  ...ALGORITHMS,
  buffers: BUFFERS,
  ...ENVIRONMENTS,
};
