/** What the page and its worker tell each other. */
import { builtin } from "@bellman/files";
import type { TrainContext } from "../callbacks.ts";
import type { EvaluationResult } from "../evaluate.ts";

/** Progress of a training in a worker. */
export type WorkerProgress = Pick<
  TrainContext,
  | ("step" | "totalTimesteps" | "updates" | "episodes")
  | ("elapsedSeconds" | "meanReturn" | "meanLength")
>;

/** Names of what the page is told of a run. */
export const PROGRESS: readonly (keyof WorkerProgress)[] = [
  ...["step", "totalTimesteps", "updates", "episodes"] as const,
  ...["elapsedSeconds", "meanReturn", "meanLength"] as const,
];

/** Evaluation of a training in a worker, with the environment steps before it. */
export interface WorkerEvaluation extends EvaluationResult {
  /** Environment steps so far. */
  readonly step: number;
}

/** Checkpoint as the bytes of a file, as `CheckpointStore` writes it. */
export interface CheckpointBytes {
  /** Environment steps so far. */
  readonly step: number;
  /** Bytes of the file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Functions that a worker answers, by name. */
// deno-lint-ignore no-explicit-any -- arguments of any types, which `unknown` refuses
export type Calls = Record<string, (...args: any[]) => unknown>;

/** Asks the worker for something: a method of its host. */
export interface WorkerRequest {
  readonly id: number;
  readonly name:
    | ("ready" | "start" | "trainOn" | "pause" | "resume" | "stop")
    | ("policy" | "checkpoint" | "call");
  readonly args: readonly unknown[];
}

/** Answer of the worker: a value, or the kind and message of an error. */
export type WorkerAnswer =
  | { type: "answer"; id: number; value: unknown }
  | { type: "error"; id: number; name: string; message: string };

/** Message of the worker: it can be asked, something happened, or an answer. */
export type WorkerMessage =
  | { type: "ready" }
  | { type: "progress"; value: WorkerProgress }
  | { type: "evaluation"; value: WorkerEvaluation }
  | WorkerAnswer;

/** One end of the connection between a page and its worker. */
export interface Connection {
  post(message: unknown): void;
  close(): void;
}

// deno-lint-ignore no-explicit-any -- what is heard depends on the type, and on the host
type Hear = (type: any, hear: (it: any) => void) => unknown;

/** Worker of pages and Deno, or thread of Node. */
interface Target {
  postMessage(message: unknown): void;
  terminate?(): unknown;
  addEventListener?: Hear;
  on?: Hear;
}

/** Listens to the other side, in the way of pages and Deno or of Node. */
export function connect<Message>(
  target: Target,
  hear: (message: Message) => void,
  fail: (reason: string) => void = () => {},
): Connection {
  const unreadable = () => fail("a message cannot be read");
  if (target.addEventListener !== undefined) {
    target.addEventListener("message", ({ data }) => hear(data));
    target.addEventListener("messageerror", unreadable);
    target.addEventListener("error", (event) => {
      event.preventDefault();
      fail(event.message ?? "it does not load");
    });
  } else {
    target.on?.("message", hear);
    target.on?.("messageerror", unreadable);
    target.on?.("error", ({ message }: Error) => fail(message));
    target.on?.("exit", () => fail("it has ended"));
  }
  return {
    post: (message) => target.postMessage(message),
    close: () => void target.terminate?.(),
  };
}

/** Runtimes with workers of their own. */
const runtime = globalThis as unknown as {
  readonly Worker?: new (url: string | URL, options: object) => Target;
  readonly WorkerGlobalScope?: unknown;
};

/** Starts a module as a worker. */
export function startWorker(url: string | URL): Target {
  const { Worker } = runtime;
  return Worker !== undefined
    ? new Worker(url, { type: "module" })
    : new (builtin("node:worker_threads").Worker)(new URL(url));
}

/** Returns the page that started this worker; undefined outside of workers. */
export function parentOf(): Target | undefined {
  const { WorkerGlobalScope } = runtime;
  if (WorkerGlobalScope !== undefined) return globalThis as unknown as Target;
  if ("document" in globalThis) return undefined;
  return builtin("node:worker_threads").parentPort ?? undefined;
}
