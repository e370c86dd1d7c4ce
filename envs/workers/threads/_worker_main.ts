/**
 * Program of a worker of a {@linkcode WorkerVecEnv}. To import it does nothing:
 * the caller does that too, so that nothing is to be downloaded in a worker
 * while the caller, whose event loop downloads, waits for it.
 */
import process from "node:process";
import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { GroupRunner } from "../_group_runner.ts";
import { sendableError } from "../host_failure.ts";
import type { GroupAnswer, GroupArrays, GroupCommand } from "../group_hosts.ts";
import { makeGroup } from "../group_source.ts";
import {
  ANSWER,
  COMMAND,
  Spinner,
  STATE,
  WORD,
  type WorkerData,
} from "./_worker_words.ts";

const STEP: GroupCommand = { type: "step" };

/** The worker's side of what it shares with the caller. */
class WorkerHost {
  #data: WorkerData;
  #spinner: Spinner;

  constructor(data: WorkerData) {
    this.#data = data;
    this.#spinner = new Spinner(data.spins);
  }

  /** Makes the environments and carries out commands until it is released. */
  async run(): Promise<void> {
    const { source, range, arrays } = this.#data;
    this.#endWhenDropped();
    try {
      const runner = new GroupRunner(
        await makeGroup(source, { ...range, guard: this.#guard }),
        range.first,
      );
      if (arrays !== undefined) runner.attach(arrays);
      if (this.#mayAnswer()) this.#answer(runner.run({ type: "open" }));
      this.#serve(runner);
      runner.env.close();
    } catch (error) {
      this.fail(error);
    }
    setTimeout(() => process.exit());
  }

  /** Sends an error to the caller, if it still waits for this worker. */
  fail(error: unknown): void {
    const isAnswering =
      Atomics.load(this.#data.words, WORD.state) === STATE.writing;
    if (!isAnswering && !this.#mayAnswer()) return;
    this.#data.port.postMessage(sendableError(error));
    this.#tell(STATE.failed);
  }

  /** Sends an error to the caller, and ends the worker. */
  die(error: unknown): void {
    this.fail(error);
    process.exit();
  }

  /**
   * Marks the worker as ended, whatever ends it, such as the environment's own
   * `Deno.exit`: the caller's event loop may be blocked.
   */
  end(): void {
    const { words } = this.#data;
    Atomics.store(words, WORD.ended, 1);
    // What it threw is still to be told.
    const hasFailed = Atomics.load(words, WORD.state) === STATE.failed;
    this.#tell(hasFailed ? STATE.failed : STATE.gone);
  }

  /** Ends while environments are still being made, should nobody want them. */
  async #endWhenDropped(): Promise<void> {
    const { words } = this.#data;
    const change = Atomics.waitAsync(words, WORD.state, STATE.asked);
    if (change.async) await change.value;
    if (Atomics.load(words, WORD.state) === STATE.dropped) process.exit();
  }

  #serve(runner: GroupRunner): void {
    const { words } = this.#data;
    for (;;) {
      const state = Atomics.load(words, WORD.state);
      if (state === STATE.dropped) return;
      if (state === STATE.asked) this.#carryOut(runner);
      else this.#spinner.wait(words, WORD.state, { value: state });
    }
  }

  #carryOut(runner: GroupRunner): void {
    const isStep =
      Atomics.load(this.#data.words, WORD.command) === COMMAND.step;
    try {
      const result = runner.run(isStep ? STEP : this.#readCommand(runner));
      if (!this.#mayAnswer()) return;
      runner.write();
      this.#answer(result);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Reads the command that was sent, after the arrays if those came first. */
  #readCommand(runner: GroupRunner): GroupCommand {
    for (;;) {
      const { message } = receiveMessageOnPort(this.#data.port)! as {
        message: GroupCommand | { type: "attach"; arrays: GroupArrays };
      };
      if (message.type !== "attach") return message;
      runner.attach(message.arrays);
    }
  }

  /** Claims the right to answer, if an answer is still wanted. */
  #mayAnswer(): boolean {
    const { words } = this.#data;
    return Atomics.compareExchange(
      words,
      WORD.state,
      STATE.asked,
      STATE.writing,
    ) === STATE.asked;
  }

  readonly #guard = (change: () => void): void => {
    if (!this.#mayAnswer()) throw new Error("nobody waits for this host");
    change();
    const { words } = this.#data;
    Atomics.add(words, WORD.signs, 1);
    Atomics.store(words, WORD.state, STATE.asked);
  };

  #answer({ opened, snapshot, episodes }: GroupAnswer): void {
    const { port, words } = this.#data;
    let kind: number = ANSWER.nothing;
    if (opened !== undefined || snapshot !== undefined) {
      kind = ANSWER.message;
      port.postMessage({ opened, snapshot });
    } else if (episodes !== undefined) {
      kind = episodes.length > 0 ? ANSWER.message : ANSWER.noEpisodes;
      if (kind === ANSWER.message) port.postMessage({ episodes });
    }
    Atomics.store(words, WORD.answer, kind);
    this.#tell(STATE.done);
  }

  /** Publishes the worker's present state to the caller. */
  #tell(state: number): void {
    const { words, events } = this.#data;
    Atomics.store(words, WORD.readyAt, Atomics.load(events, 0));
    Atomics.store(words, WORD.state, state);
    Atomics.add(events, 0, 1);
    Atomics.notify(events, 0);
  }
}

/** Runs the host that this worker was made for. */
export function main(): void {
  const host = new WorkerHost(workerData as WorkerData);
  // Either may come alone: the one from `Deno.exit`, the other where nothing is
  // left to do, as nothing settles a promise that copies are waited for with.
  addEventListener("unload", () => host.end());
  process.on("exit", () => host.end());
  // While copies are made: later the event loop is blocked.
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    host.die(event.reason);
  });
  addEventListener("error", (event) => {
    event.preventDefault();
    host.die(event.error);
  });
  // Later: a worker that exits while its module is still being evaluated
  // leaves descriptors behind.
  setTimeout(() => host.run());
}
