/** Kinds of arrays that {@link sharedArrays} allocates. */
export type SharedArrayKind =
  | Int32ArrayConstructor
  | Float32ArrayConstructor
  | Float64ArrayConstructor;

/** Arrays of kinds by name. */
export type SharedArrays<
  K extends Readonly<Record<string, readonly [SharedArrayKind, number]>>,
> = { [Name in keyof K]: InstanceType<K[Name][0]> };

/** Bytes of a cache line: what two threads write is not on the same. */
const LINE = 64;
const PAGE = 1 << 16;

/**
 * Allocates arrays in one memory that several threads share, each on cache lines
 * of its own, and that {@linkcode compileInPlace} computes on.
 *
 * @param kinds Kind and length of each array, by name.
 * @returns The memory, which may be posted to workers, and the arrays, all 0.
 * @throws {RangeError} If they are of more than 4 GiB together.
 *
 * @example
 * ```ts
 * import { sharedArrays } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const { memory, arrays } = sharedArrays({
 *   params: [Float32Array, 3],
 *   steps: [Int32Array, 1],
 * });
 * Atomics.add(arrays.steps, 0, 1);
 * assertEquals(arrays.steps[0], 1);
 * assertEquals(arrays.params.buffer, memory.buffer);
 * ```
 */
export function sharedArrays<
  const K extends Readonly<Record<string, readonly [SharedArrayKind, number]>>,
>(kinds: K): { memory: WebAssembly.Memory; arrays: SharedArrays<K> } {
  let bytes = 0;
  const places = Object.entries(kinds).map(([name, [Kind, length]]) => {
    const start = bytes;
    bytes += LINE * Math.ceil(length * Kind.BYTES_PER_ELEMENT / LINE);
    return { name, Kind, length, start };
  });
  const pages = Math.max(1, Math.ceil(bytes / PAGE));
  const memory = new WebAssembly.Memory({
    initial: pages,
    maximum: pages,
    shared: true,
  });
  const arrays = Object.fromEntries(
    places.map(({ name, Kind, length, start }) => [
      name,
      new Kind(memory.buffer as ArrayBuffer, start, length),
    ]),
  );
  return { memory, arrays: arrays as SharedArrays<K> };
}
