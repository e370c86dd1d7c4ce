import { createHash, createHmac, randomBytes } from "node:crypto";
import { closeSync, existsSync, lstatSync, readSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { kindOf, namingFile, openPlainSync } from "@bellman/files";
import { fileError, UsageError } from "../terminal/errors.ts";

/*
 * The configuration that a run began with is kept next to config.yaml with a
 * checksum, which shows edits and damage on any machine, and a signature by a
 * secret of the user's, which shows on this one that the user made the run.
 */
const TITLE = "# What the run began with; edit a copy of config.yaml instead.";
const CHECKSUM = /^# sha256 ([0-9a-f]{64})$/;
const SIGNATURE = /^# signed ([0-9a-f]{64})$/;
const UNSIGNED = "# unsigned";

/** Bytes of the secret. */
const KEY_LENGTH = 32;

/** Folders of state that outlives caches, by platform. */
const STATE_FOLDERS: Readonly<
  Record<string, readonly [variable: string, below: string][]>
> = {
  darwin: [["HOME", "/Library/Application Support/bellman"]],
  linux: [["XDG_STATE_HOME", "/bellman"], ["HOME", "/.local/state/bellman"]],
  windows: [["LOCALAPPDATA", "/bellman/state"]],
};

/** Returns the folder of the secret: `BELLMAN_STATE`, or the platform's. */
function stateFolder(): string | undefined {
  const folders = STATE_FOLDERS[Deno.build.os] ?? STATE_FOLDERS.linux;
  for (const [variable, below] of [["BELLMAN_STATE", ""], ...folders]) {
    const value = Deno.env.get(variable);
    if (value) return value + below;
  }
}

/** Finds the user's secret, if there is one. */
function findKey(path: string): Uint8Array | undefined {
  try {
    const file = openPlainSync(path, "read");
    try {
      const key = new Uint8Array(KEY_LENGTH + 1);
      return key.slice(0, readSync(file, key));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the user's secret, made if wanted; undefined where it cannot be. */
function ownKey({ make }: { make: boolean }): Uint8Array | undefined {
  try {
    const folder = stateFolder();
    if (folder === undefined) return undefined;
    const path = join(folder, "key");
    const key = findKey(path);
    if (key !== undefined || !make) return usable(key);
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Only its owner may read a temporary file.
    const unfinished = Deno.makeTempFileSync({ dir: folder, prefix: "key-" });
    try {
      Deno.writeFileSync(unfinished, randomBytes(KEY_LENGTH));
      // Of two processes that make it at a time, one is first.
      Deno.linkSync(unfinished, path);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    } finally {
      Deno.removeSync(unfinished);
    }
    return usable(findKey(path));
  } catch {
    // No home, or none that may be used: no run counts as own then.
    return undefined;
  }
}

function usable(key: Uint8Array | undefined): Uint8Array | undefined {
  return key?.length === KEY_LENGTH ? key : undefined;
}

/** Describes the damage of the user's secret, if there is some. */
export function keyProblem(): string | undefined {
  try {
    const folder = stateFolder();
    const key = folder === undefined ? undefined : findKey(join(folder, "key"));
    if (key === undefined || usable(key)) return undefined;
    return `Cannot use ${folder}/key, which signs your runs: expected ${KEY_LENGTH} bytes, got ${
      key.length > KEY_LENGTH ? "more" : key.length
    }; remove it, and --trust the runs that it signed`;
  } catch (error) {
    // Where it may not be looked for, there is none.
    return error instanceof SyntaxError ? error.message : undefined;
  }
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function signature(text: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

/**
 * Signs the configuration of a new run.
 *
 * @param text Text of `config.yaml`.
 * @param options False where another user or machine made the run, and a
 * function that takes a line about a damaged secret.
 * @returns Text of `config.sig`.
 */
export function signConfig(
  text: string,
  { isOwn = true, onNotice = () => {} }: {
    isOwn?: boolean;
    onNotice?: (line: string) => void;
  } = {},
): string {
  const problem = isOwn ? keyProblem() : undefined;
  if (problem !== undefined) onNotice(problem);
  const key = isOwn ? ownKey({ make: true }) : undefined;
  const signed = key === undefined
    ? UNSIGNED
    : `# signed ${signature(text, key)}`;
  return [TITLE, `# sha256 ${checksum(text)}`, signed, text].join("\n");
}

/** The configuration that a run began with. */
interface OriginalConfig {
  text: string;
  /** True where this user made the run on this machine. */
  isOwn: boolean;
}

/**
 * Finds the configuration that a run began with, in two files of which one may
 * be edited, damaged or missing.
 *
 * @param current Text of `config.yaml`.
 * @param signed Text of `config.sig`.
 * @returns Undefined where neither can be used.
 */
export function originalConfig(
  current: string | undefined,
  signed: string | undefined,
): OriginalConfig | undefined {
  const [, checksumLine = "", signedLine = "", ...rest] = signed?.split("\n") ??
    [];
  const kept = rest.join("\n");
  const wanted = CHECKSUM.exec(checksumLine)?.[1];
  const text = wanted === undefined
    ? current
    : [kept, current].find((it) => it !== undefined && checksum(it) === wanted);
  // The checksum itself may be what is damaged.
  const original = text ?? (kept === current ? current : undefined);
  if (original === undefined) return undefined;
  const key = ownKey({ make: false });
  const isOwn = key !== undefined &&
    SIGNATURE.exec(signedLine)?.[1] === signature(original, key);
  return { text: original, isOwn };
}

/** Process that has a lock, as the file of the lock names it. */
interface Holder {
  pid: number;
  /** Start of the process, as an ISO date. */
  started: string;
  host: string;
}

/** Lock of something that this process alone works on, such as a run folder. */
export interface RunLock {
  /** Removes the file and lets others in. */
  release(): void;
}

/**
 * Keeps other processes from training in a run's folder.
 *
 * @param dir The run's folder.
 * @returns The lock, to be released at the end.
 * @throws {UsageError} If another process has it; the message names it.
 */
export function lockRun(dir: string): RunLock {
  return lockFile(
    `${dir}/run.lock`,
    (holder) => `Cannot use the run ${dir}: ${holder} trains it at present`,
  );
}

/** Milliseconds for which a lock is tried again, and between two tries. */
const PATIENCE_MS = 1_000, BETWEEN_MS = 10;

/**
 * Locks a file against other processes. Somebody who looks whether it is locked,
 * as the board does, has it for a moment: it is refused after a second of tries.
 * The system releases the lock when its
 * process ends, however that happens, so that the file of a killed process locks
 * nobody out, even if another process has got its id.
 *
 * @param path The file, which is there as long as the lock.
 * @param refusal Message for a given holder, which is another process.
 * @returns The lock, to be released at the end.
 * @throws {UsageError} If another process has it.
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
      throw new UsageError(refusal(nameOf(readHolder(path))));
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
        // Before others are let in, so that none of them holds a removed file.
        if (isAt(path, file)) remove(path);
        file.close();
      },
    };
  }
}

/** Names the process that has a lock at present, if one has. */
export function holderOf(path: string): string | undefined {
  const file = existsSync(path) ? openLock(path) : undefined;
  if (file === undefined) return undefined;
  const holder = readHolder(path);
  // A shared lock turns no other one away that is only a look.
  const isLocked = isHeld(file, { holder, exclusive: false });
  file.close();
  return isLocked ? nameOf(holder) : undefined;
}

function nameOf(holder: Holder | undefined): string {
  return holder === undefined
    ? "another process"
    : `process ${holder.pid} on ${holder.host}, begun at ${holder.started},`;
}

/**
 * Opens the file in the folder itself, as a link there could lead anywhere;
 * undefined where its holder has just removed it.
 */
function openLock(path: string): Deno.FsFile | undefined {
  const use = { read: true, write: true };
  const found = lstatSync(path, { throwIfNoEntry: false });
  const kind = found && kindOf(found);
  if (kind !== undefined) {
    throw new UsageError(`Cannot use ${path}: it is ${kind}, expected a file`);
  }
  // It is emptied, and may be another file of the user's.
  if (found !== undefined && found.nlink > 1) {
    throw new UsageError(
      `Cannot use ${path}: it has a second name elsewhere; remove it`,
    );
  }
  try {
    return Deno.openSync(path, { ...use, createNew: found === undefined });
  } catch (error) {
    if (
      error instanceof Deno.errors.AlreadyExists ||
      error instanceof Deno.errors.NotFound && found !== undefined
    ) return undefined;
    throw error;
  }
}

/** Locks the folder of a new run; where that fails, what it has written is removed. */
export function lockNew(dir: string, discard: () => void): RunLock {
  try {
    return lockRun(dir);
  } catch (error) {
    // Another process may train in it already.
    if (!(error instanceof UsageError)) discard();
    throw fileError(error, dir) ?? error;
  }
}

/** Tries to lock for a while; returns true as soon as the lock is this process's. */
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

/** What nobody notifies. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Tries to lock; returns true if another process has the lock. */
function isHeld(
  file: Deno.FsFile,
  { holder, exclusive }: { holder: Holder | undefined; exclusive: boolean },
): boolean {
  try {
    return !file.tryLockSync(exclusive);
  } catch {
    // A file system without locks: the process that is named may still run.
    return holder?.host === Deno.hostname() && isRunning(holder.pid);
  }
}

/** Most bytes of the text that names a holder. */
const HOLDER_BYTES = 4096;

function readHolder(path: string): Holder | undefined {
  try {
    // Another file of that name may be of any size.
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
    const [there, own] = [Deno.lstatSync(path), file.statSync()];
    return there.ino === own.ino && there.dev === own.dev;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // The folder may be gone, and Windows removes no open file: what stays there is taken over.
  }
}
