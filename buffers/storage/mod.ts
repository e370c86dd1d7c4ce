/**
 * Storages for the rows of a `ReplayBuffer`: memory, or a file that may be larger than memory.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { FileStorage } from "@bellman/buffers/storage";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const storage = FileStorage.open(`${folder}/pool.rows`);
 * const fields = { x: { shape: [], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 1e6, fields, storage });
 * buffer.add({ x: [7] });
 * assertEquals(buffer.gather([0]).x, Float32Array.of(7));
 * buffer.close();
 * await Deno.remove(folder, { recursive: true });
 * ```
 *
 * @module
 */
export * from "./file_storage.ts";
export { MemoryStorage } from "./memory_storage.ts";
export * from "./storage.ts";
export type { FieldArray, FieldDtype } from "../fields.ts";
