/**
 * Environments that are games in pages of a browser, or programs, which connect with
 * `@bellman/client`. This program must be permitted to run them (`--allow-run`) and to
 * listen on this machine (`--allow-net=127.0.0.1`).
 *
 * @example
 * ```ts
 * import { PageVecEnv } from "@bellman/envs/pages";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => new PageVecEnv("page:game.html", { numEnvs: 2 }),
 *   SyntaxError,
 *   "expected the address of a page, such as page:http://127.0.0.1:5173/",
 * );
 * ```
 *
 * @module
 */
export { PageVecEnv, type PageVecEnvOptions } from "./page_vec_env.ts";
export * from "./register_page.ts";
