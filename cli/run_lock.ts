import process from "node:process";
import { UsageError } from "./usage_error.ts";

/** The process that trains a run, as it writes itself into the run's folder. */
interface Holder {
  pid: number;
  /** When the process began, as an ISO date. */
  started: string;
  host: string;
}

/** A run folder that this process alone trains in. */
export interface RunLock {
  /** Lets others in, and removes the file. */
  release(): void;
}

/**
 * Keeps other processes from training in a run's folder. The system lets go of
 * the lock when its process ends, however that happens, so that what a killed
 * one left behind is taken over and a process that got its id is not taken for
 * it.
 *
 * @param dir The run's folder.
 * @returns The lock, to be released at the end.
 * @throws {UsageError} If another process has it; the message names that.
 */
export function lockRun(dir: string): RunLock {
  const path = `${dir}/run.lock`;
  for (;;) {
    const file = Deno.openSync(path, { create: true, read: true, write: true });
    const holder = readHolder(path);
    if (isHeld(file, holder)) {
      file.close();
      throw new UsageError(
        `Cannot use the run ${dir}: ${
          holder === undefined
            ? "another process"
            : `process ${holder.pid} on ${holder.host}, begun at ${holder.started},`
        } trains it at present`,
      );
    }
    // The former holder may have removed the file since it was opened.
    if (!isAt(path, file)) {
      file.close();
      continue;
    }
    file.truncateSync();
    file.writeSync(new TextEncoder().encode(`${JSON.stringify(self())}\n`));
    return {
      release() {
        // Before others are let in, so that none of them holds a removed file.
        if (isAt(path, file)) remove(path);
        file.close();
      },
    };
  }
}

/** Takes the lock; true if another process has it. */
function isHeld(file: Deno.FsFile, holder: Holder | undefined): boolean {
  try {
    return !file.tryLockSync(true);
  } catch {
    // A file system without locks: the process that is named may still run.
    return holder?.host === Deno.hostname() && isRunning(holder.pid);
  }
}

function self(): Holder {
  return {
    pid: Deno.pid,
    started: new Date(performance.timeOrigin).toISOString(),
    host: Deno.hostname(),
  };
}

function readHolder(path: string): Holder | undefined {
  try {
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
    return Deno.statSync(path).ino === file.statSync().ino;
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
