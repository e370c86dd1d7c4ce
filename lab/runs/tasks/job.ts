import { programArguments } from "@bellman/envs/workers";
import { checkDeno } from "@bellman/files";
import { asLine, UsageError } from "../program/errors.ts";

/** Program to run in a separate process; it calls `holdLifeLine` first. */
export interface Job {
  /** URL of its module. */
  program: string;
  /** Arguments. */
  args: readonly string[];
  /** Receives each line of its standard output. */
  onLine?: (line: string) => void;
}

/** End of a job. */
export interface JobEnd {
  /** Exit code. */
  code: number;
  /** Signal that ended the process, such as `SIGKILL` if memory was short. */
  signal: string | null;
  /** Last line of its standard error, without `error: `. */
  message: string;
  /** True if it was asked to stop. */
  wasStopped: boolean;
}

/**
 * Returns true if a signal ended a job. After SIGTERM it saves itself and exits with
 * 128 plus the signal's number.
 */
export function wasKilled({ code, signal }: JobEnd): boolean {
  return signal !== null || code > 128;
}

/** Running job, here or elsewhere. */
export interface RunningJob {
  /** Resolves at its end. */
  readonly ended: Promise<JobEnd>;
  /** Asks it to save and end, as Ctrl-C does; it ends within some ten seconds. */
  stop(): void;
  /** Kills it at once. */
  kill(): void;
}

/** Job in a process of this machine. */
export interface LocalJob extends RunningJob {
  readonly pid: number;
}

/** Milliseconds before a job that did not stop on request is killed. */
const PATIENCE_MS = 12_000;

/**
 * Starts a job. It outlives this process by ten seconds at most, enough to save itself.
 *
 * @param job Program to run.
 * @param signal Stops it when aborted.
 */
export function startJob(
  { program, args, onLine = () => {} }: Job,
  signal?: AbortSignal,
): LocalJob {
  checkDeno("start runs in other processes");
  const child = new Deno.Command(Deno.execPath(), {
    args: [...programArguments(program), ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
    // A terminal's Ctrl-C reaches it only through this process.
    detached: true,
  }).spawn();
  const lifeLine = child.stdin.getWriter();
  // It may end before a request reaches it.
  lifeLine.closed.catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has just ended.
    }
  };
  const stop = () => {
    if (timer !== undefined) return;
    timer = setTimeout(kill, PATIENCE_MS);
    lifeLine.write(new TextEncoder().encode("stop\n")).catch(() => {});
  };
  const end = async (): Promise<JobEnd> => {
    let prints = "";
    const [{ code, signal: ending }] = await Promise.all([
      child.status,
      eachLine(child.stdout, onLine),
      eachLine(child.stderr, (line) => prints = line.trim() || prints),
    ]);
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    lifeLine.close().catch(() => {});
    return {
      code,
      signal: ending,
      message: lastLine(prints),
      wasStopped: timer !== undefined,
    };
  };
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  return { pid: child.pid, ended: end(), stop, kill };
}

/** Returns the last line of a job's output, without `error: `. */
export function lastLine(prints: string): string {
  const line = prints.trimEnd().split("\n").at(-1)!.trim();
  return asLine(line.replace(/^error: /, ""));
}

/**
 * Calls a function with each line of a stream.
 *
 * @example
 * ```ts
 * import { eachLine } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * await eachLine(new Blob(["one\ntwo"]).stream(), (line) => lines.push(line));
 * assertEquals(lines, ["one", "two"]);
 * ```
 */
export async function eachLine(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop()!;
    lines.forEach(take);
  }
  if (rest !== "") take(rest);
}

/**
 * Checks a number of parallel jobs.
 *
 * @param jobs The number.
 * @throws {UsageError} If it is not a whole number of at least 1.
 *
 * @example
 * ```ts
 * import { checkJobs } from "@bellman/runs/tasks";
 * import { assertThrows } from "@std/assert";
 *
 * checkJobs(2);
 * assertThrows(() => checkJobs(0), Error, "Cannot use jobs = 0");
 * ```
 */
export function checkJobs(jobs: number): void {
  if (Number.isInteger(jobs) && jobs >= 1) return;
  throw new UsageError(
    `Cannot use jobs = ${jobs}: expected a whole number from 1 on`,
  );
}

/**
 * Runs work in several places at a time until all of it is done; if one fails, the
 * others are stopped first.
 *
 * @param places Number of places.
 * @param work Does the work of one place, until the signal stops it.
 * @param signal Stops all work.
 * @throws What the first one threw that failed.
 *
 * @example
 * ```ts
 * import { inPlaces } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * const done: number[] = [];
 * await inPlaces(3, (place) => Promise.resolve(void done.push(place)));
 * assertEquals(done, [0, 1, 2]);
 * ```
 */
export async function inPlaces(
  places: number,
  work: (place: number, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  await Promise.all(Array.from({ length: places }, async (_, place) => {
    try {
      await work(place, either);
    } catch (error) {
      failure.abort(error);
    }
  }));
  if (failure.signal.aborted) throw failure.signal.reason;
}
