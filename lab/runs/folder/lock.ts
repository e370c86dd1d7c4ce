import { kindOf, namingFile } from "@bellman/files";
import { existsSync, lstatSync } from "node:fs";
import process from "node:process";
import { LOCK_FILE } from "./run_folder.ts";

/** Process that holds a lock, as the lock file names it. */
interface Holder {
  pid: number;
  /** Start of the process, as an ISO date. */
  started: string;
  host: string;
}

/** Exclusive lock, as of a run folder. */
export interface RunLock {
  /** Removes the lock file and unlocks. */
  release(): void;
}

/**
 * Locks a run folder against training by other processes.
 *
 * @param dir Run folder.
 * @returns The lock, to be released at the end.
 * @throws {RangeError} If another process holds it; the message names it.
 *
 * @example
 * ```ts
 * import { lockRun } from "@bellman/runs";
 * import { assertThrows } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const lock = lockRun(dir);
 * assertThrows(() => lockRun(dir), RangeError, "trains it at present");
 * lock.release();
 * ```
 */
export function lockRun(dir: string): RunLock {
  return lockFile(
    `${dir}/${LOCK_FILE}`,
    (holder) => `Cannot use the run ${dir}: ${holder} trains it at present`,
  );
}

/** Milliseconds of retries to lock, and between two tries. */
const PATIENCE_MS = 1_000, BETWEEN_MS = 10;

/**
 * Locks a file against other processes. It retries for a second, since checking a lock,
 * as the board does, holds it for a moment. The system releases the lock at the end of
 * its process, however that ends, so the file of a killed process locks nobody out,
 * even if another process got its id.
 *
 * @param path Lock file, which exists while the lock is held.
 * @param refusal Makes the error message for a holder.
 * @returns The lock, to be released at the end.
 * @throws {RangeError} If another process holds it.
 *
 * @example
 * ```ts
 * import { lockFile } from "@bellman/runs";
 * import { assertThrows } from "@std/assert";
 *
 * const path = `${await Deno.makeTempDir()}/mine.lock`;
 * const lock = lockFile(path, (holder) => `${holder} has it`);
 * assertThrows(() => lockFile(path, String), RangeError, `process ${Deno.pid}`);
 * lock.release();
 * ```
 */
export function lockFile(
  path: string,
  refusal: (holder: string) => string,
): RunLock {
  for (;;) {
    const file = openLock(path);
    if (file === undefined) continue;
    if (!lockedSoon(file, path)) {
      file.close();
      throw new RangeError(refusal(nameOf(readHolder(path))));
    }
    // The former holder may have removed the file since it was opened.
    if (!isAt(path, file)) {
      file.close();
      continue;
    }
    const self: Holder = {
      pid: Deno.pid,
      started: new Date(performance.timeOrigin).toISOString(),
      host: Deno.hostname(),
    };
    const text = new TextEncoder().encode(`${JSON.stringify(self)}\n`);
    try {
      namingFile(path, () => {
        file.truncateSync();
        file.writeSync(text);
      });
    } catch (error) {
      file.close();
      throw error;
    }
    return {
      release() {
        // Before unlocking, so that nobody locks a removed file.
        if (isAt(path, file)) remove(path);
        file.close();
      },
    };
  }
}

/**
 * Names the process that holds a lock at present, if any.
 *
 * @param path Lock file.
 *
 * @example
 * ```ts
 * import { holderOf, lockRun } from "@bellman/runs";
 * import { assertEquals, assertMatch } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const lock = lockRun(dir);
 * assertMatch(holderOf(`${dir}/run.lock`) ?? "", /^process \d+ on /);
 * lock.release();
 * assertEquals(holderOf(`${dir}/run.lock`), undefined);
 * ```
 */
export function holderOf(path: string): string | undefined {
  const file = existsSync(path) ? openLock(path) : undefined;
  if (file === undefined) return undefined;
  const holder = readHolder(path);
  // A shared lock does not disturb other checks.
  const isLocked = isHeld(file, { holder, exclusive: false });
  file.close();
  return isLocked ? nameOf(holder) : undefined;
}

function nameOf(holder: Holder | undefined): string {
  return holder === undefined
    ? "another process"
    : `process ${holder.pid} on ${holder.host}, begun at ${holder.started},`;
}

/** Opens the lock file without following links; undefined if its holder has just removed it. */
function openLock(path: string): Deno.FsFile | undefined {
  const use = { read: true, write: true };
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const kind = stats && kindOf(stats);
  if (kind !== undefined) {
    throw new RangeError(`Cannot use ${path}: it is ${kind}, expected a file`);
  }
  // It will be emptied, and may be another file of the user's.
  if (stats !== undefined && stats.nlink > 1) {
    throw new RangeError(
      `Cannot use ${path}: it has a second name elsewhere; remove it`,
    );
  }
  try {
    return Deno.openSync(path, { ...use, createNew: stats === undefined });
  } catch (error) {
    if (
      error instanceof Deno.errors.AlreadyExists ||
      error instanceof Deno.errors.NotFound && stats !== undefined
    ) return undefined;
    throw error;
  }
}

/** Retries to lock for a while; returns true once this process holds the lock. */
function lockedSoon(file: Deno.FsFile, path: string): boolean {
  const end = performance.now() + PATIENCE_MS;
  while (isHeld(file, { holder: readHolder(path), exclusive: true })) {
    // A holder that has ended well has removed the file.
    if (!isAt(path, file)) return true;
    if (performance.now() >= end) return false;
    Atomics.wait(PAUSE, 0, 0, BETWEEN_MS);
  }
  return true;
}

/** Never notified: waiting on it is a pause. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Tries to lock; returns true if another process holds the lock. */
function isHeld(
  file: Deno.FsFile,
  { holder, exclusive }: { holder: Holder | undefined; exclusive: boolean },
): boolean {
  try {
    return !file.tryLockSync(exclusive);
  } catch {
    // A file system without locks: the named process may still run.
    return holder?.host === Deno.hostname() && isRunning(holder.pid);
  }
}

/** Largest size of the holder's text in bytes. */
const HOLDER_BYTES = 4096;

function readHolder(path: string): Holder | undefined {
  try {
    // Another file of that name may have any size.
    if (Deno.statSync(path).size > HOLDER_BYTES) return undefined;
    const holder: Holder = JSON.parse(Deno.readTextFileSync(path));
    return Number.isSafeInteger(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}

function isAt(path: string, file: Deno.FsFile): boolean {
  try {
    const [there, opened] = [Deno.lstatSync(path), file.statSync()];
    return there.ino === opened.ino && there.dev === opened.dev;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // The folder may be gone, and Windows cannot remove an open file: a leftover file
    // is reused.
  }
}
