import { unsecured } from "@bellman/envs/ray";
import { lockRun, type RunLock } from "../folder/lock.ts";
import { RunFolder } from "../folder/run_folder.ts";
import { CheckpointStore } from "@bellman/training";
import { mkdirSync } from "node:fs";
import { type JobEnd, lastLine } from "../tasks/job.ts";
import {
  hearLine,
  type RunEvent,
  type RunTask,
  type StartRun,
} from "../tasks/run_task.ts";
import { commitOf } from "../tasks/commit.ts";
import { admitRun, openSavedRun } from "../training/saved_run.ts";
import {
  asInputError,
  fileProblem,
  RunFailure,
  UsageError,
} from "../program/errors.ts";
import {
  type ClusterHello,
  type RunClusterOptions,
  type RunNews,
  RunsProgram,
} from "./runs_program.ts";

/** Settings of {@linkcode ClusterRuns}. */
export interface ClusterRunsOptions extends RunClusterOptions {
  /** Receives lines for the user. */
  onNotice: (line: string) => void;
}

/** Run on the cluster. */
interface PlacedRun {
  task: RunTask;
  onEvent: (event: RunEvent) => void;
  resolve: (end: Omit<JobEnd, "wasStopped">) => void;
  reject: (error: unknown) => void;
}

/**
 * Applies the checks of `train --resume` here, since a node, without the user's
 * project, is told to trust the run.
 */
function admitHere({ dir, isTrusted = false }: RunTask): void {
  const { checkpointsDir } = new RunFolder(dir);
  const { best, checkpoints } = new CheckpointStore(checkpointsDir).list();
  // It is started anew.
  if (best === undefined && checkpoints.length === 0) return;
  admitRun(openSavedRun(dir, { isTrusted: true }), {
    command: "resume",
    isTrusted,
  });
}

function endOf(
  { code, signal, prints = "", problem: name }: NonNullable<RunNews["end"]>,
  dir: string,
): Omit<JobEnd, "wasStopped"> {
  const problem = fileProblem({ code: name });
  const message = problem === undefined
    ? lastLine(prints.replaceAll("{dir}", dir))
    : `Cannot use the folder ${dir}: ${problem}`;
  return { code, signal, message };
}

/**
 * Runs on the nodes of a Ray cluster. Each is the same job as on this machine, in a
 * folder on its node; its files are copied back as they grow, and resume it on another
 * node if its own is lost.
 *
 * @example
 * ```ts
 * import { ClusterRuns } from "@bellman/runs/ray";
 * import { assertRejects } from "@std/assert";
 *
 * const where = { cluster: "127.0.0.1:1", code: "here", cpusPerRun: 1 } as const;
 * const python = "no-such-python", onNotice = console.error;
 * await assertRejects(() => ClusterRuns.open({ ...where, python, onNotice }));
 * ```
 */
export class ClusterRuns {
  /** Number of runs that fit on the cluster at a time, at least one. */
  readonly places: number;
  readonly #options: ClusterRunsOptions;
  readonly #program: RunsProgram;
  /** Commit of the code. */
  readonly #commit: string;
  readonly #runs = new Map<number, PlacedRun>();
  #count = 0;
  #isOver = false;

  private constructor(
    program: RunsProgram,
    { places, commit }: { places: number; commit: string },
    options: ClusterRunsOptions,
  ) {
    this.#program = program;
    this.places = Math.max(1, places);
    this.#commit = commit;
    this.#options = options;
    program.onNews = (news) => this.#hear(news);
    program.onEnd = () => this.#end();
  }

  /**
   * Connects to a cluster.
   *
   * @param options Cluster, and receiver of lines for the user.
   * @throws {UsageError} If it cannot be reached, or no node is large enough for a run.
   */
  static async open(options: ClusterRunsOptions): Promise<ClusterRuns> {
    if (Deno.build.standalone) {
      throw new UsageError(
        "Cannot run on a cluster as this is a compiled program, whose modules no other process can run",
      );
    }
    const { cluster, cpusPerRun, onNotice } = options;
    const program = new RunsProgram(options);
    let hello: ClusterHello;
    try {
      hello = await program.hello;
    } catch (error) {
      await program.close();
      throw error;
    }
    const { places, most, scales, secured } = hello;
    if (cpusPerRun > most && !scales) {
      await program.close();
      throw new UsageError(
        `Cannot give each run ${cpusPerRun} CPUs: no node of the cluster at ${cluster} has more than ${most}; lower --cpus-per-run`,
      );
    }
    if (!secured) onNotice(unsecured(cluster));
    const commit = await commitOf(program.folder);
    return new ClusterRuns(program, { places, commit }, options);
  }

  /** Starts a run on a node. */
  readonly start: StartRun = (task, listener, signal) => {
    const onEvent = listener ?? (() => {});
    const run = this.#count++;
    const { promise, resolve, reject } = Promise.withResolvers<
      Omit<JobEnd, "wasStopped">
    >();
    let wasStopped = false, lock: RunLock | undefined;
    const stop = () => {
      if (!wasStopped) this.#program.tell({ run, how: "stop" });
      wasStopped = true;
    };
    try {
      mkdirSync(task.dir, { recursive: true });
      lock = lockRun(task.dir);
      this.#begin(run, { task, onEvent, resolve, reject });
    } catch (error) {
      if (asInputError(error) === undefined) reject(error);
      resolve({ code: 2, signal: null, message: (error as Error).message });
    }
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const ended = promise.then((end) => ({ ...end, wasStopped })).finally(
      () => {
        signal?.removeEventListener("abort", stop);
        lock?.release();
      },
    );
    const kill = () => this.#program.tell({ run, how: "kill" });
    return { ended, stop, kill };
  };

  #begin(run: number, placed: PlacedRun): void {
    if (this.#isOver) throw this.#loss();
    const { task } = placed;
    admitHere(task);
    const start = { ...task, isTrusted: true, commit: this.#commit };
    this.#runs.set(run, placed);
    this.#program.tell({ run, start });
  }

  #hear({ run = -1, waiting, cpus, ...news }: RunNews): void {
    if (waiting !== undefined) {
      const needed = waiting === 1 ? "a CPU" : `${waiting} CPUs`;
      this.#options.onNotice(
        `A run waits for ${needed}: the cluster has ${cpus}, which are in use`,
      );
    }
    const placed = this.#runs.get(run);
    if (placed === undefined) return;
    const { task: { dir }, resolve, reject } = placed;
    try {
      this.#tellRun(placed, news);
    } catch (error) {
      // Such as a full disk.
      this.#runs.delete(run);
      this.#program.tell({ run, how: "kill" });
      return reject(error);
    }
    if (news.end === undefined) return;
    this.#runs.delete(run);
    resolve(endOf(news.end, dir));
  }

  #tellRun(
    { onEvent }: PlacedRun,
    { lines = [], lost }: RunNews,
  ): void {
    lines.forEach((line) => hearLine(line, onEvent));
    if (lost === undefined) return;
    onEvent({ lost });
  }

  #loss(): RunFailure {
    return new RunFailure(
      `The connection to the Ray cluster at ${this.#options.cluster} was lost`,
    );
  }

  /** Ends the runs after the program has ended. */
  #end(): void {
    this.#isOver = true;
    for (const { reject } of this.#runs.values()) reject(this.#loss());
    this.#runs.clear();
  }

  /** Disconnects; runs in progress end. */
  close(): Promise<void> {
    return this.#program.close();
  }
}
