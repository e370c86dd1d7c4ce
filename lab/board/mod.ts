/**
 * Live view of all runs, experiments and searches of some folders in a browser.
 *
 * @example
 * ```ts
 * import { serveBoard } from "@bellman/board";
 * import { assertEquals } from "@std/assert";
 *
 * const board = await serveBoard({ roots: ["runs"], port: 0 });
 * assertEquals(new URL(board.url).hostname, "127.0.0.1");
 * await board.close();
 * ```
 *
 * @module
 */
export { type Board, type BoardOptions, serveBoard } from "./server.ts";
