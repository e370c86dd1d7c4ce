import type { Env } from "@bellman/types";
import { EnvWrapper } from "../wrappers/env_wrapper.ts";

/**
 * What a wrapper needs, which is the environment or under wrappers around it.
 *
 * @param isIt Which one that is.
 * @param wrapper The wrapper, and what it expects.
 * @throws {TypeError} If there is none.
 */
export function findInside<T extends Env>(
  env: Env,
  isIt: (inner: Env) => inner is T,
  wrapper: { name: string; expected: string },
): T {
  let inner = env;
  while (!isIt(inner)) {
    if (!(inner instanceof EnvWrapper)) {
      throw new TypeError(
        `Cannot wrap ${
          env.spec?.id ?? "an environment"
        } with ${wrapper.name}: expected ${wrapper.expected}`,
      );
    }
    inner = inner.env;
  }
  return inner;
}
