import {
  defaultRegistry,
  type EnvKwargs,
  type RegistryOptions,
} from "../registry/registry.ts";
import {
  gameMakers,
  OnlyEnv,
  type WorldOptions,
} from "../self_play/make_game.ts";
import { RowsWorld } from "../self_play/rows_world.ts";
import {
  PageVecEnv,
  type PageVecEnvOptions,
  sourceOf,
} from "./page_vec_env.ts";

/** Settings of {@linkcode registerPage}. */
export interface RegisterPageOptions
  extends RegistryOptions, Omit<PageVecEnvOptions, "numEnvs"> {}

/** Beginning of ids of games whose agents play against each other. */
const MATCH = "match:";

/**
 * Makes a game known by its id, so that `makeVec` makes its environments; where it is
 * known already, these options take the place of the former ones. Browser or program
 * start only when some are made. There are no more workers than environments.
 *
 * Agents of one world are rows of one policy that learn side by side. After `match:`
 * they are the seats of a game: the learner takes one, opponents take the others. There
 * are two, or as many as its option `seats` says.
 *
 * @param id `page:` and an address, or `program:` and a command; `match:` before it for
 * agents that play against each other.
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
  const isMatch = id.startsWith(MATCH), spec = { id };
  const source = isMatch ? id.slice(MATCH.length) : id;
  sourceOf(source);
  const { workers = 1 } = options;
  const rows = (numEnvs: number, kwargs: EnvKwargs) =>
    new PageVecEnv(source, {
      ...options,
      numEnvs,
      workers: Math.min(workers, numEnvs),
      kwargs: { ...options.kwargs, ...kwargs },
    });
  if (isMatch) {
    const makeWorld = ({ numEnvs, kwargs }: WorldOptions) => {
      const { seats = 2, ...others } = kwargs as { seats?: number };
      return new RowsWorld(rows(numEnvs * seats, others), { seats });
    };
    registry.set(id, { ...spec, ...gameMakers(makeWorld, spec) });
    return;
  }
  registry.set(id, {
    ...spec,
    limitsItself: true,
    make: (kwargs) =>
      new OnlyEnv(rows(1, kwargs), () => {
        throw new TypeError(`Cannot draw ${id}: a game is drawn where it runs`);
      }),
    recordsInfo: true,
    makeVec: ({ numEnvs, kwargs }) => rows(numEnvs, kwargs),
  });
}
