import { defaultRegistry, type RegistryOptions } from "../registry/registry.ts";
import {
  PageVecEnv,
  type PageVecEnvOptions,
  sourceOf,
} from "./page_vec_env.ts";

/** Settings of {@linkcode registerPage}. */
export interface RegisterPageOptions
  extends RegistryOptions, Omit<PageVecEnvOptions, "numEnvs"> {}

/**
 * Makes a game known by its id, so that `makeVec` makes its environments; where it is
 * known already, these options take the place of the former ones. Browser or program
 * start only when some are made. There are no more workers than environments.
 *
 * @param id `page:` and an address, or `program:` and a command.
 * @param options Registry that it is kept in, and its own options.
 * @throws {SyntaxError} If it is no such id.
 * @example
 * ```ts
 * import { registeredIds } from "@bellman/envs";
 * import { registerPage } from "@bellman/envs/pages";
 * import { assert } from "@std/assert";
 *
 * registerPage("page:http://127.0.0.1:5173/", { workers: 2 });
 * assert(registeredIds().includes("page:http://127.0.0.1:5173/"));
 * ```
 */
export function registerPage(
  id: string,
  { registry = defaultRegistry, ...options }: RegisterPageOptions = {},
): void {
  sourceOf(id);
  const { workers = 1 } = options;
  registry.set(id, {
    id,
    limitsItself: true,
    make() {
      throw new TypeError(
        `Cannot make a single environment of ${id}: a game is drawn where it runs, and makeVec steps it without pictures`,
      );
    },
    recordsInfo: true,
    makeVec: ({ numEnvs, kwargs }) =>
      new PageVecEnv(id, {
        ...options,
        numEnvs,
        workers: Math.min(workers, numEnvs),
        kwargs: { ...options.kwargs, ...kwargs },
      }),
  });
}
