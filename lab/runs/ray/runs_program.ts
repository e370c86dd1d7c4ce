import {
  denoOnNodes,
  type RayOptions,
  rayProgram,
  rayPython,
  whyNoRay,
} from "@bellman/envs/ray";
import { toJson } from "../folder/record.ts";
import { eachLine, type JobEnd } from "../tasks/job.ts";
import { RUN_PROGRAM, type RunTask } from "../tasks/run_task.ts";
import { UsageError } from "../program/errors.ts";
import texts from "./texts.json" with { type: "json" };

/** Time for Ray to answer, in milliseconds: the program itself gives up sooner. */
const HELLO_MS = 120_000;
/** Time for the program to end, in milliseconds, with a node that it has started. */
const LEAVE_MS = 12_000;
/** Letters of the program's prints that are kept. */
const KEPT = 65_536;

/** Cluster for runs, and how they are placed there. */
export interface RunClusterOptions
  extends Pick<RayOptions, "cluster" | "code" | "python"> {
  /** CPUs of the cluster that each run takes. */
  cpusPerRun: number;
}

/** What the program says of the cluster. */
export interface ClusterHello {
  /** Runs that it has CPUs for at a time. */
  places: number;
  /** CPUs of its largest node. */
  most: number;
  /** True where nodes may be added. */
  scales: boolean;
  /** True where it asks for a token. */
  secured: boolean;
}

/** What is to be done with a run, which has a number. */
export type RunOrder =
  | { run: number; start: RunTask }
  | { run: number; how: "stop" | "kill" };

/** News of a run, or of the cluster. */
export interface RunNews {
  run?: number;
  /** Lines that its process has printed. */
  lines?: string[];
  /** Parts of its files that have come. */
  files?: number;
  /** Why its node, or Ray's process there, is no more; it is placed once more. */
  lost?: string;
  end?: Pick<JobEnd, "code" | "signal"> & {
    prints?: string;
    /** Code of an error of a file here. */
    problem?: string;
  };
  /** CPUs that a run waits for. */
  waiting?: number;
  /** CPUs of the cluster. */
  cpus?: number;
}

/** The Python program `runs.py`, which has joined a cluster. */
export class RunsProgram {
  /** Folder of the code, here. */
  readonly folder: string;
  /** What it says first; an error says why it cannot. */
  readonly hello: Promise<ClusterHello>;
  /** Takes what it says then. */
  onNews: (news: RunNews) => void = () => {};
  /** Called when it has ended. */
  onEnd: () => void = () => {};
  readonly #child: Deno.ChildProcess;
  readonly #orders: WritableStreamDefaultWriter<Uint8Array>;

  /**
   * Starts it.
   *
   * @throws {UsageError} If there is no such Python.
   */
  constructor(options: RunClusterOptions) {
    const { code, cpusPerRun, python = rayPython() } = options;
    const { folder, ...run } = denoOnNodes(RUN_PROGRAM, { code });
    const { program, args } = rayProgram(
      `${texts["run_files.py"]}\n${texts["runs.py"]}`,
      { ...options, python, folder },
      { ...run, cpus: cpusPerRun, deno: Deno.version.deno },
    );
    try {
      this.#child = new Deno.Command(program, {
        args: [...args],
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
        // A terminal's Ctrl-C reaches it through this process alone.
        detached: true,
      }).spawn();
    } catch (error) {
      const failure = error instanceof Deno.errors.NotFound
        ? "there is no such program"
        : (error as Error).message;
      throw new UsageError(whyNoRay(python, { failure, prints: "" }), {
        cause: error,
      });
    }
    this.folder = folder;
    this.#orders = this.#child.stdin.getWriter();
    // What it is told after its end is not heard.
    this.#orders.closed.catch(() => {});
    this.hello = this.#listen(python);
  }

  #listen(python: string): Promise<ClusterHello> {
    const { promise, resolve, reject } = Promise.withResolvers<ClusterHello>();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), HELLO_MS);
    let prints = "", hasJoined = false;
    const heard = eachLine(this.#child.stdout, (line) => {
      if (hasJoined) return this.onNews(JSON.parse(line));
      hasJoined = true;
      clearTimeout(timer);
      resolve(JSON.parse(line));
    });
    const printed = eachLine(this.#child.stderr, (line) => {
      prints = `${prints}${line}\n`.slice(-KEPT);
    });
    Promise.all([this.#child.status, heard, printed]).then(() => {
      clearTimeout(timer);
      reject(new UsageError(whyNoRay(python, { prints })));
      this.onEnd();
    });
    return promise;
  }

  /** Tells it what to do. */
  tell(order: RunOrder): void {
    const line = new TextEncoder().encode(`${toJson(order)}\n`);
    this.#orders.write(line).catch(() => {});
  }

  /** Has it leave the cluster; runs that are still made there end. */
  async close(): Promise<void> {
    await this.#orders.close().catch(() => {});
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), LEAVE_MS);
    await this.#child.status;
    clearTimeout(timer);
  }
}
