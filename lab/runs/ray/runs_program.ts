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

/** Milliseconds to wait for Ray; the program itself gives up sooner. */
const HELLO_MS = 120_000;
/** Milliseconds to wait for the program's end, with a node that it has started. */
const LEAVE_MS = 12_000;
/** Letters of the program's output to keep. */
const KEPT = 65_536;

/** Cluster for runs, and their resources. */
export interface RunClusterOptions
  extends Pick<RayOptions, "cluster" | "code" | "python"> {
  /** CPUs of the cluster for each run. */
  cpusPerRun: number;
}

/** First message of the program, about the cluster. */
export interface ClusterHello {
  /** Number of runs that fit at a time. */
  places: number;
  /** CPUs of its largest node. */
  most: number;
  /** True if nodes may be added. */
  scales: boolean;
  /** True if it requires a token. */
  secured: boolean;
}

/** Command for a run, which has a number. */
export type RunOrder =
  | { run: number; start: RunTask }
  | { run: number; how: "stop" | "kill" };

/** News of a run, or of the cluster. */
export interface RunNews {
  run?: number;
  /** Lines of output of its process. */
  lines?: string[];
  /** Number of received file parts. */
  files?: number;
  /** Reason why its node, or Ray's process there, was lost; the run is placed again. */
  lost?: string;
  end?: Pick<JobEnd, "code" | "signal"> & {
    prints?: string;
    /** Error code of a local file. */
    problem?: string;
  };
  /** CPUs that a run waits for. */
  waiting?: number;
  /** CPUs of the cluster. */
  cpus?: number;
}

/** Python program `runs.py`, connected to a cluster. */
export class RunsProgram {
  /** Local folder of the code. */
  readonly folder: string;
  /** First message; rejected with the reason if there is none. */
  readonly hello: Promise<ClusterHello>;
  /** Receives later messages. */
  onNews: (news: RunNews) => void = () => {};
  /** Called when the program has ended. */
  onEnd: () => void = () => {};
  readonly #child: Deno.ChildProcess;
  readonly #orders: WritableStreamDefaultWriter<Uint8Array>;

  /**
   * Starts the program.
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
        // A terminal's Ctrl-C reaches it only through this process.
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
    // Commands after its end are ignored.
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

  /** Sends a command. */
  tell(order: RunOrder): void {
    const line = new TextEncoder().encode(`${toJson(order)}\n`);
    this.#orders.write(line).catch(() => {});
  }

  /** Disconnects from the cluster; runs in progress end. */
  async close(): Promise<void> {
    await this.#orders.close().catch(() => {});
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), LEAVE_MS);
    await this.#child.status;
    clearTimeout(timer);
  }
}
