/** An environment of any source, in its own process. */
import {
  type GroupOptions,
  type GroupSource,
  SubprocessVecEnv,
} from "@bellman/envs/workers";
import type { VecEnv } from "@bellman/types";

export default (
  { source, numEnvs }: GroupOptions & { source: GroupSource },
): VecEnv => new SubprocessVecEnv(source, { numEnvs });
