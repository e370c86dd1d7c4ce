import { builtin } from "@bellman/files";
import { sendableError, silentFailure } from "../host_failure.ts";
import type { GroupAnswer, GroupArrays, GroupCommand } from "../group_hosts.ts";
import {
  ANSWER,
  COMMAND,
  type HostCommand,
  Spinner,
  STATE,
  WORD,
  type WorkerData,
  type WorkerMessage,
} from "./_worker_messages.ts";

/** Ends this thread. */
const exit = () => builtin("node:process").exit();

/** Program of a worker: carries out one command after the other. */
export interface WorkerProgram {
  /**
   * Carries out a command.
   *
   * @param command The command; `open` is the first one.
   * @returns Its answer.
   */
  run(command: GroupCommand): GroupAnswer;
  /**
   * Writes what the last command brought into memory that the caller reads.
   *
   * @default nothing
   */
  write?(): void;
  /**
   * Takes the arrays that `write` writes to.
   *
   * @default nothing
   */
  attach?(arrays: GroupArrays): void;
  /** Frees what it holds. */
  close(): void;
}

/**
 * Runs a change to memory that others share, whole, which is also a heartbeat: a
 * command may take as long as there are heartbeats. In a worker that was given up it
 * throws, and nothing is changed.
 */
export type CriticalSection = (change: () => void) => void;

const STEP: GroupCommand = { type: "step" };

/** Program of a host elsewhere, which this thread only speaks to. */
export interface HostProgram {
  /** Id of its process, once it is known. */
  readonly pid: number;
  /**
   * Has it carry out a command.
   *
   * @param command The command; `open` is the first one.
   * @returns Function that writes into the arrays, if the answer is still wanted, and
   * returns it.
   */
  run(command: HostCommand): Promise<() => GroupAnswer>;
  /** Takes the arrays of the group. */
  attach?(arrays: GroupArrays): void;
  /**
   * Ends it.
   *
   * @param isBusy True where it has a command: it is ended at once.
   * @returns The last that it printed, where that is known.
   */
  close(isBusy: boolean): Promise<string | undefined>;
}

/** The host's side of what it shares with the caller. */
export class HostSide {
  #data: WorkerData;
  #spinner = new Spinner();

  constructor(data: WorkerData) {
    this.#data = data;
  }

  /** Makes the program and carries out commands until the worker is released. */
  async run(
    make: (
      data: unknown,
      criticalSection: CriticalSection,
    ) => WorkerProgram | Promise<WorkerProgram>,
  ): Promise<void> {
    this.#endWhenDropped();
    try {
      const program = await make(this.#data.data, this.#criticalSection);
      if (this.#mayAnswer()) this.#answer(program.run({ type: "open" }));
      this.#serve(program);
      program.close();
    } catch (error) {
      this.fail(error);
    }
    setTimeout(exit);
  }

  /** Has a host elsewhere carry out commands until it is released. */
  async follow(program: HostProgram): Promise<void> {
    const { words, port } = this.#data;
    let isBusy = false;
    const carryOut = async (command: HostCommand): Promise<void> => {
      isBusy = true;
      try {
        const finish = await program.run(command);
        Atomics.store(words, WORD.pid, program.pid);
        if (this.#mayAnswer()) this.#answer(finish());
      } catch (error) {
        this.fail(error);
      }
      isBusy = false;
    };
    carryOut({ type: "open" });
    for (;;) {
      const state = Atomics.load(words, WORD.state);
      if (state === STATE.dropped) break;
      if (state === STATE.busy && !isBusy) carryOut(this.#command(program));
      const change = Atomics.waitAsync(words, WORD.state, state);
      if (change.async) await change.value;
    }
    const prints = await program.close(isBusy);
    port.postMessage(sendableError(silentFailure(prints)));
    this.end();
  }

  /** Tells that the host is alive, and wakes the caller. */
  beat(): void {
    Atomics.add(this.#data.words, WORD.heartbeats, 1);
    this.#wakeCaller();
  }

  /** Sends an error to the caller, if it still waits for this worker. */
  fail(error: unknown): void {
    const isAnswering =
      Atomics.load(this.#data.words, WORD.state) === STATE.writing;
    if (!isAnswering && !this.#mayAnswer()) return;
    this.#data.port.postMessage(sendableError(error));
    this.#publish(STATE.failed);
  }

  /** Sends an error to the caller, and ends the worker. */
  die(error: unknown): void {
    this.fail(error);
    exit();
  }

  /**
   * Marks the worker as ended, whatever ends it, such as the environment's own
   * `Deno.exit`: the caller's event loop may be blocked.
   */
  end(): void {
    const { words } = this.#data;
    Atomics.store(words, WORD.ended, 1);
    // The caller has yet to read what it threw.
    const hasFailed = Atomics.load(words, WORD.state) === STATE.failed;
    this.#publish(hasFailed ? STATE.failed : STATE.gone);
  }

  /** Ends while the program is still being made, should nobody want it. */
  async #endWhenDropped(): Promise<void> {
    const { words } = this.#data;
    const change = Atomics.waitAsync(words, WORD.state, STATE.busy);
    if (change.async) await change.value;
    if (Atomics.load(words, WORD.state) === STATE.dropped) exit();
  }

  #serve(program: WorkerProgram): void {
    const { words } = this.#data;
    for (;;) {
      const state = Atomics.load(words, WORD.state);
      if (state === STATE.dropped) return;
      if (state === STATE.busy) this.#carryOut(program);
      else this.#spinner.wait(words, WORD.state, { value: state });
    }
  }

  #carryOut(program: WorkerProgram): void {
    try {
      const result = program.run(this.#command(program) as GroupCommand);
      if (!this.#mayAnswer()) return;
      program.write?.();
      this.#answer(result);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Returns the command that was sent, after the arrays if those came first. */
  #command(program: Pick<WorkerProgram, "attach">): HostCommand {
    const { words } = this.#data;
    if (Atomics.load(words, WORD.command) === COMMAND.step) return STEP;
    const { receiveMessageOnPort } = builtin("node:worker_threads");
    for (;;) {
      const { message } = receiveMessageOnPort(this.#data.port)! as {
        message: WorkerMessage;
      };
      if (message.type !== "attach") return message;
      program.attach?.(message.arrays);
    }
  }

  /** Claims the right to answer, if an answer is still wanted. */
  #mayAnswer(): boolean {
    const { words } = this.#data;
    return Atomics.compareExchange(
      words,
      WORD.state,
      STATE.busy,
      STATE.writing,
    ) === STATE.busy;
  }

  readonly #criticalSection: CriticalSection = (change) => {
    if (!this.#mayAnswer()) throw new Error("nobody waits for this worker");
    change();
    const { words } = this.#data;
    Atomics.add(words, WORD.heartbeats, 1);
    Atomics.store(words, WORD.state, STATE.busy);
  };

  #answer(answer: GroupAnswer): void {
    const { episodes, ...told } = answer;
    const { port, words } = this.#data;
    let kind: number = ANSWER.nothing;
    if (Object.keys(told).length > 0) {
      kind = ANSWER.message;
      port.postMessage(told);
    } else if (episodes !== undefined) {
      kind = episodes.length > 0 ? ANSWER.message : ANSWER.noEpisodes;
      if (kind === ANSWER.message) port.postMessage({ episodes });
    }
    Atomics.store(words, WORD.answer, kind);
    this.#publish(STATE.done);
  }

  /** Publishes the worker's present state to the caller. */
  #publish(state: number): void {
    Atomics.store(this.#data.words, WORD.state, state);
    this.#wakeCaller();
  }

  #wakeCaller(): void {
    const { events } = this.#data;
    Atomics.add(events, 0, 1);
    Atomics.notify(events, 0);
  }
}

/**
 * Carries out the commands of a {@linkcode WorkerPool} in a thread of it. The `main`
 * of the pool's module calls it.
 *
 * @param make Makes what carries them out, of the data of the pool; its second
 * argument guards changes to shared memory.
 *
 * @example
 * ```ts
 * import { WorkerPool } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 * import { pathToFileURL } from "node:url";
 *
 * const path = await Deno.makeTempFile({ suffix: ".js" });
 * await Deno.writeTextFile(
 *   path,
 *   `import { serveWorker } from "${import.meta.resolve("@bellman/envs/workers")}";
 *   export const main = () => serveWorker(({ from }) => {
 *     let steps = from;
 *     return {
 *       run({ type }) {
 *         if (type === "step") steps++;
 *         return type === "save" ? { snapshot: steps } : {};
 *       },
 *       close: () => {},
 *     };
 *   });`,
 * );
 * const pool = new WorkerPool(pathToFileURL(path).href, {
 *   workers: 2,
 *   data: (worker) => ({ from: 10 * worker }),
 * });
 * pool.step();
 * pool.step([1]);
 * assertEquals(pool.save(), [1, 12]);
 * pool.close();
 * ```
 */
export function serveWorker<Data>(
  make: (
    data: Data,
    criticalSection: CriticalSection,
  ) => WorkerProgram | Promise<WorkerProgram>,
): void {
  const { workerData } = builtin("node:worker_threads");
  const side = new HostSide(workerData as WorkerData);
  const process = builtin("node:process");
  // Either may come alone: the one from `Deno.exit`, which Node lacks, the other where
  // nothing is left to do, as nothing settles a promise that the program is waited for
  // with.
  globalThis.addEventListener?.("unload", () => side.end());
  process.on("exit", () => side.end());
  // While the program is made: later the event loop is blocked.
  process.on("unhandledRejection", (reason) => side.die(reason));
  process.on("uncaughtException", (error) => side.die(error));
  // Later: a worker that exits while its module is still being evaluated
  // leaves descriptors behind.
  setTimeout(() => side.run((data, section) => make(data as Data, section)));
}
