import { lookAt } from "./inside.ts";

/**
 * State of a lock: `none` where there is no file, `held` by some process, `left` by a
 * process of this machine that was killed, `unclear` where the machine or the file
 * system does not tell.
 */
export type LockState = "none" | "held" | "left" | "unclear";

/** Returns the name of this machine; undefined where it may not be asked for. */
function ownHost(): string | undefined {
  try {
    return Deno.hostname();
  } catch {
    // The board may read files, and nothing else.
  }
  try {
    return Deno.readTextFileSync("/etc/hostname").trim();
  } catch {
    return undefined;
  }
}

const host = ownHost();

/** Most bytes of the line that names the holder. */
const HOLDER_BYTES = 4096;

/** Paths that are being opened: a pipe keeps that from ever ending. */
const opening = new Set<string>();

/**
 * Looks whether another process has the lock of a folder. It does so by a shared lock,
 * for a moment, which `lockRun` waits for; nothing is written.
 *
 * @param dir The folder.
 * @param name Name of the lock's file.
 */
export async function lockState(dir: string, name: string): Promise<LockState> {
  const entry = lookAt(dir, name), path = `${dir}/${name}`;
  if (entry === undefined) return "none";
  if (entry.kind !== undefined || opening.has(path)) return "unclear";
  opening.add(path);
  try {
    // Not at once: were it replaced by a pipe just now, a thread alone would hang.
    using file = await Deno.open(path);
    return file.statSync().isFile ? stateOf(file) : "unclear";
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "none" : "unclear";
  } finally {
    opening.delete(path);
  }
}

function stateOf(file: Deno.FsFile): LockState {
  try {
    if (!file.tryLockSync(false)) return "held";
    file.unlockSync();
  } catch {
    // A file system without locks.
    return "unclear";
  }
  const bytes = new Uint8Array(HOLDER_BYTES);
  const text = new TextDecoder()
    .decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  const named = /"host":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return named === undefined || host === undefined ||
      named === JSON.stringify(host)
    ? "left"
    : "unclear";
}
