import { totalmem } from "node:os";
import process from "node:process";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { UsageError } from "../program/errors.ts";

/**
 * Returns the bytes of memory available to a process, if known.
 *
 * @example
 * ```ts
 * import { machineMemory } from "@bellman/runs/training";
 * import { assert } from "@std/assert";
 *
 * assert((machineMemory() ?? Infinity) > 2 ** 20);
 * ```
 */
export function machineMemory(): number | undefined {
  try {
    // Limit of a container, if there is one.
    const limit = process.constrainedMemory() || Infinity;
    return Math.min(totalmem(), limit);
  } catch {
    // Without permission to ask, training still works.
    return undefined;
  }
}

/** Bytes from which on a run reports its memory. */
const WORTH_SAYING = 2 * 2 ** 30;

/**
 * Writes a size, such as `3.2 GiB`.
 *
 * @example
 * ```ts
 * import { gibibytes } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(gibibytes(3.2 * 2 ** 30), "3.2 GiB");
 * ```
 */
export function gibibytes(bytes: number): string {
  const value = bytes / 2 ** 30;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} GiB`;
}

const LOWER = "lower bufferSize, numSteps, hiddenSizes or numEnvs";

/**
 * Checks that the arrays of a run fit into memory at the start. The system only assigns
 * memory as they fill: otherwise a too large replay buffer would end a run hours later.
 *
 * @param onNotice Receives a line about a run that uses much memory.
 * @param bytes Bytes of the machine, and of all arrays of this process.
 * @throws {UsageError} If they do not fit.
 */
export function checkMemory(
  onNotice: (line: string) => void,
  { available = machineMemory(), allocated = process.memoryUsage().external }: {
    available?: number;
    allocated?: number;
  } = {},
): void {
  if (available !== undefined && allocated > available) {
    throw new UsageError(
      `Cannot train with these settings: the arrays of the run take ${
        gibibytes(allocated)
      } of memory, expected at most the ${
        gibibytes(available)
      } of this machine; ${LOWER}`,
    );
  }
  if (allocated < WORTH_SAYING) return;
  onNotice(`The arrays of this run take ${gibibytes(allocated)} of memory`);
}

/** Describes in one line that arrays could not be allocated, if that is the error. */
export function memoryError(error: unknown): UsageError | undefined {
  const isShort = error instanceof RangeError &&
    /^(Array buffer allocation failed|Invalid (typed )?array length)/
      .test(error.message);
  if (!isShort) return undefined;
  return new UsageError(
    `Cannot train with these settings: their arrays are larger than memory (${error.message}); ${LOWER}`,
    { cause: error },
  );
}

/** Milliseconds between two checks of the heap. */
const LOOK_MS = 10;
/** Fraction of the heap that counts as full. */
const FULL = 0.8;

/** JavaScript heap: size in bytes, and garbage collection. */
export interface Heap {
  sizes(): { used: number; limit: number };
  collect(): void;
}

const V8_HEAP: Heap = {
  sizes() {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    return { used: used_heap_size, limit: heap_size_limit };
  },
  collect() {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
  },
};

/**
 * Makes a function that throws if JavaScript's heap is nearly full: otherwise V8 would
 * soon end the process without a message.
 *
 * @param heap The heap.
 * @param now Clock in milliseconds.
 */
export function heapWatch(
  heap: Heap = V8_HEAP,
  now = () => performance.now(),
): () => void {
  let next = -Infinity;
  return () => {
    const time = now();
    if (time < next) return;
    next = time + LOOK_MS;
    const before = heap.sizes(), full = FULL * before.limit;
    if (before.used < full) return;
    // Most of it may be garbage.
    heap.collect();
    const { used, limit } = heap.sizes();
    if (used < full) return;
    throw new Error(
      `JavaScript's heap is full: ${gibibytes(used)} of ${
        gibibytes(limit)
      } stay in use, as where an environment keeps what it makes`,
    );
  };
}
