import { isDeno, kindOf, namingFile } from "@bellman/files";
import * as fs from "node:fs";
import { existsSync, lstatSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import { LOCK_FILE } from "./run_folder.ts";

/** Process that holds a lock, as the lock file names it. */
interface Holder {
  pid: number;
  /** Start of the process, as an ISO date. */
  started: string;
  host: string;
  /** True for a process of Node, which cannot lock files: it holds the lock while it runs. */
  lockless?: boolean;
}

/** Open file that can be locked. */
interface LockFile {
  truncateSync(): void;
  writeSync(bytes: Uint8Array): number;
  statSync(): { ino: number | null; dev: number };
  tryLockSync(exclusive: boolean): boolean;
  close(): void;
}

/** Open file in Node, which has no locks. */
class NodeFile implements LockFile {
  readonly #file: number;

  constructor(path: string, flags: string) {
    this.#file = fs.openSync(path, flags);
  }

  truncateSync(): void {
    fs.ftruncateSync(this.#file);
  }

  writeSync(bytes: Uint8Array): number {
    return fs.writeSync(this.#file, bytes, 0, bytes.length, 0);
  }

  statSync(): fs.Stats {
    return fs.fstatSync(this.#file);
  }

  tryLockSync(): boolean {
    throw new Error("Cannot lock a file in Node");
  }

  close(): void {
    fs.closeSync(this.#file);
  }
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
      pid: process.pid,
      started: new Date(performance.timeOrigin).toISOString(),
      host: hostname(),
      ...!isDeno() && { lockless: true },
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
function openLock(path: string): LockFile | undefined {
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
    const createNew = stats === undefined;
    return isDeno()
      ? Deno.openSync(path, { read: true, write: true, createNew })
      : new NodeFile(path, createNew ? "wx+" : "r+");
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EEXIST" || code === "ENOENT" && stats !== undefined) {
      return undefined;
    }
    throw error;
  }
}

/** Retries to lock for a while; returns true once this process holds the lock. */
function lockedSoon(file: LockFile, path: string): boolean {
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
  file: LockFile,
  { holder, exclusive }: { holder: Holder | undefined; exclusive: boolean },
): boolean {
  const isThere = () => holder?.host === hostname() && isRunning(holder.pid);
  if (holder?.lockless && holder.pid !== process.pid && isThere()) return true;
  try {
    return !file.tryLockSync(exclusive);
  } catch {
    // Without locks the named process may still run.
    return isThere();
  }
}

/** Largest size of the holder's text in bytes. */
const HOLDER_BYTES = 4096;

function readHolder(path: string): Holder | undefined {
  try {
    // Another file of that name may have any size.
    if (fs.statSync(path).size > HOLDER_BYTES) return undefined;
    const holder: Holder = JSON.parse(fs.readFileSync(path, "utf8"));
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

function isAt(path: string, file: LockFile): boolean {
  try {
    const [there, opened] = [lstatSync(path), file.statSync()];
    return there.ino === opened.ino && there.dev === opened.dev;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    fs.rmSync(path);
  } catch {
    // The folder may be gone, and Windows cannot remove an open file: a leftover file
    // is reused.
  }
}
