import { existsSync } from "node:fs";
import { cacheFolder, readVariable } from "@bellman/files/installed";
import { eachLine } from "@bellman/runs/tasks";
import { messageOf, RunFailure, UsageError } from "@bellman/runs/program";
import texts from "./host/texts.json" with { type: "json" };
import type { Params, SearchEvent } from "./record.ts";
import type { Sampler } from "./sampler.ts";
import { isInSpace, type Space } from "./space.ts";

/** Installed version of Optuna, and its required major version. */
export const OPTUNA_VERSION = "5.0.0";
const MAJOR = OPTUNA_VERSION.split(".")[0];

/** Environment variable with the path of a Python. */
const VARIABLE = "BELLMAN_PYTHON";

/** Milliseconds to wait for a reply, including the start of Python. */
const PATIENCE_MS = 120_000;
/** Starts of Python before a request is given up. */
const MOST_STARTS = 3;

/** Command that installs Optuna. */
const INSTALL = import.meta.url.startsWith("file:")
  ? "deno task install-optuna"
  : "deno run -RWES --allow-run jsr:@bellman/search/install-optuna";

/** Returns the folder of the virtual environment of `install-optuna`. */
export function optunaFolder(): string {
  return `${cacheFolder()}/optuna`;
}

/** Returns the Python of a virtual environment. */
export function pythonIn(folder: string): string {
  return Deno.build.os === "windows"
    ? `${folder}/Scripts/python.exe`
    : `${folder}/bin/python3`;
}

/** Lists the Pythons that may have Optuna, the user's first. */
export function optunaPythons(): string[] {
  const named = readVariable(VARIABLE);
  const installed = pythonIn(optunaFolder());
  return [
    ...named === undefined ? [] : [named],
    ...existsSync(installed) ? [installed] : [],
    ...named === undefined ? ["python3"] : [],
  ];
}

/** Request without its number. */
interface Request {
  op: string;
  events: object[];
  [argument: string]: unknown;
}

/** Reply to a request; Python prints other lines too. */
interface Reply {
  reply?: number;
  value?: unknown;
  error?: string;
}

/** Python ended or does not reply: the next process gets the record. */
class LostPython extends Error {}

/** Python process of `host/study.py`. */
class StudyProcess {
  #child: Deno.ChildProcess;
  #writer: WritableStreamDefaultWriter<Uint8Array>;
  #requests = 0;
  #hear: (line: string) => void = () => {};
  /** Rejected with the reason when the process has ended. */
  #ended: Promise<never>;

  constructor(python: string) {
    this.#child = new Deno.Command(python, {
      args: ["-u", "-c", texts["study.py"]],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#writer.closed.catch(() => {});
    this.#ended = this.#untilEnd();
    this.#ended.catch(() => {});
  }

  async #untilEnd(): Promise<never> {
    let last = "";
    const { stdout, stderr, status } = this.#child;
    const [{ code, signal }] = await Promise.all([
      status,
      eachLine(stdout, (line) => this.#hear(line)),
      eachLine(stderr, (line) => last = line.trim() || last),
    ]);
    const how = signal === null ? `with code ${code}` : `by ${signal}`;
    throw new LostPython(`it ended ${how}${last && `: ${last}`}`);
  }

  /** Sends a request and returns the value of the reply. */
  async call<T>(request: Request): Promise<T> {
    const id = ++this.#requests;
    const timer = setTimeout(() => this.kill(), PATIENCE_MS);
    const reply = new Promise<Reply>((resolve) => {
      this.#hear = (line) => {
        const parsed = readReply(line);
        if (parsed?.reply === id) resolve(parsed);
      };
    });
    try {
      const text = `${JSON.stringify({ ...request, id })}\n`;
      // If it has ended, the end of its output contains the reason.
      await this.#writer.write(new TextEncoder().encode(text)).catch(() => {});
      const { value, error } = await Promise.race([reply, this.#ended]);
      if (error !== undefined) throw new Error(error);
      return value as T;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Kills it at once. */
  kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }

  /** Ends it, and waits for that. */
  async close(): Promise<void> {
    await this.#writer.close().catch(() => {});
    const timer = setTimeout(() => this.kill(), 1000);
    await this.#ended.catch(() => {});
    clearTimeout(timer);
  }
}

function readReply(line: string): Reply | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Converts a value for Optuna: lists and mappings become texts. */
function asChoice(value: unknown): unknown {
  return typeof value === "object" && value !== null
    ? JSON.stringify(value)
    : value;
}

/** Space, sampler and seed of a study. */
interface StudyOptions {
  space: Space;
  sampler: "tpe" | "cmaes";
  seed: number;
}

/**
 * Optuna study in a Python process. It is only in memory there: if Python ends, a new
 * process gets the record and samples the same trials.
 */
export class OptunaSampler implements Sampler {
  readonly #options: StudyOptions;
  readonly #space: Record<string, object>;
  #python: string | undefined;
  #process: StudyProcess | undefined;
  #version: string | undefined;
  /** Number of events that the current process has received. */
  #sent = 0;

  constructor(options: StudyOptions) {
    this.#options = options;
    this.#space = Object.fromEntries(
      Object.entries(options.space).map(([key, range]) => [
        key,
        range.kind === "choice"
          ? { ...range, choices: range.choices.map(asChoice) }
          : range,
      ]),
    );
  }

  get name(): string {
    return `optuna ${this.#version} ${this.#options.sampler}`;
  }

  /**
   * Starts the first Python that has Optuna.
   *
   * @throws {UsageError} If none has it, or its version differs.
   */
  async start(): Promise<void> {
    const why: string[] = [];
    for (const python of optunaPythons()) {
      try {
        await this.#attempt(() => this.#begin(python));
        if (this.#version?.split(".")[0] === MAJOR) return;
        why.push(`${python} has Optuna ${this.#version}, expected ${MAJOR}`);
      } catch (error) {
        why.push(`${python}: ${messageOf(error)}`);
      }
      await this.close();
    }
    throw new UsageError(
      `Cannot start Optuna for the sampler ${this.#options.sampler}: ${
        why.join("; ")
      }; run '${INSTALL}', set ${VARIABLE} to a Python that has it, or use the sampler random`,
    );
  }

  async #begin(python: string): Promise<void> {
    const { sampler, seed } = this.#options;
    this.#python = python;
    this.#process = new StudyProcess(python);
    this.#sent = 0;
    this.#version = await this.#process.call({
      op: "open",
      events: [],
      space: this.#space,
      sampler,
      seed,
    });
  }

  async ask(trial: number, events: readonly SearchEvent[]): Promise<Params> {
    const drawn = await this.#call<Params>("draw", [trial], events);
    return Object.fromEntries(
      Object.entries(this.#options.space)
        .map(([key, range]) => [
          key,
          range.kind === "choice"
            ? range.choices.find((choice) => asChoice(choice) === drawn[key])
            : drawn[key],
        ]),
    );
  }

  /** Estimates the importance of each setting; undefined for too few trials. */
  async importances(
    events: readonly SearchEvent[],
  ): Promise<Record<string, number> | undefined> {
    type Importances = Record<string, number>;
    try {
      const shares = await this.#call<Importances>("importances", [], events);
      return Object.keys(shares).length === 0 ? undefined : shares;
    } catch {
      // Optuna needs two different trials.
      return undefined;
    }
  }

  /** Writes a journal for `optuna-dashboard`. */
  async export(
    name: string,
    path: string,
    events: readonly SearchEvent[],
  ): Promise<void> {
    await this.#call("export", [name, path], events);
  }

  async #call<T>(
    op: string,
    args: readonly unknown[],
    events: readonly SearchEvent[],
  ): Promise<T> {
    const { length } = events;
    try {
      return await this.#attempt(async () => {
        if (this.#process === undefined) await this.#begin(this.#python!);
        const fresh = events.slice(this.#sent, length)
          .flatMap((it) => this.#told(it));
        const request = { op, events: fresh, arguments: args };
        const value = await this.#process!.call<T>(request);
        this.#sent = length;
        return value;
      });
    } catch (error) {
      throw new RunFailure(`Optuna failed: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Retries something if Python was lost meanwhile. */
  async #attempt<T>(act: () => Promise<T>): Promise<T> {
    for (let starts = 1;; starts++) {
      try {
        return await act();
      } catch (error) {
        await this.close();
        if (!(error instanceof LostPython)) throw error;
        if (starts < MOST_STARTS) continue;
        throw new Error(
          `Python ended ${starts} times before it answered; ${error.message}`,
          { cause: error },
        );
      }
    }
  }

  /** Converts an event for Python. */
  #told(event: SearchEvent): object[] {
    if (event.op === "begin") return [];
    const { op, trial } = event;
    if (event.op === "report") return [{ op, trial, value: event.value }];
    if (event.op === "tell") {
      return [{ op, trial, value: event.value, state: event.state }];
    }
    // The first trial may be outside of the space.
    if (!isInSpace(event.params, this.#options.space)) return [];
    const entries = Object.keys(this.#space).map((key) =>
      [key, asChoice(event.params[key])] as const
    );
    return [{ op, trial, params: Object.fromEntries(entries) }];
  }

  async close(): Promise<void> {
    await this.#process?.close();
    this.#process = undefined;
  }
}
