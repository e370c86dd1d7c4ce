import type { VecEnv } from "@bellman/types";
import type { GroupAnswer, GroupArrays, GroupCommand } from "./group_hosts.ts";
import { GroupRunner } from "./_group_runner.ts";
import { HostFailure } from "./host_failure.ts";
import { sendableError } from "./_worker_words.ts";

/** A group that the calling thread hosts itself, while it would only wait. */
export class LocalSlot {
  /** The count of events when it last became ready. */
  readyAt = 0;
  #make: () => VecEnv;
  #first: number;
  #runner: GroupRunner | undefined;
  #arrays: GroupArrays | undefined;
  #asked: GroupCommand | undefined;
  #answer: GroupAnswer | undefined;
  #failure: HostFailure | undefined;

  /**
   * @param make Makes the copies.
   * @param first Number of the first of them among all groups.
   */
  constructor(make: () => VecEnv, first: number) {
    this.#make = make;
    this.#first = first;
  }

  get isReady(): boolean {
    return this.#asked === undefined;
  }

  start(): void {
    this.#drop();
    this.#runner = undefined;
  }

  attach(arrays: GroupArrays): void {
    this.#arrays = arrays;
    this.#runner?.attach(arrays);
  }

  begin(command: GroupCommand): void {
    this.#asked = command;
    this.#answer = this.#failure = undefined;
  }

  /** Does what was asked. */
  run(): void {
    const command = this.#asked;
    if (command === undefined) return;
    this.#asked = undefined;
    try {
      const runner = this.#runner ??= this.#open();
      this.#answer = runner.run(command);
      runner.write();
    } catch (error) {
      const { message, ...thrown } = sendableError(error);
      this.#failure = new HostFailure("error", message, thrown);
    }
  }

  finish(): GroupAnswer {
    this.run();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#answer!;
  }

  close(): void {
    this.#drop();
  }

  #open(): GroupRunner {
    const runner = new GroupRunner(this.#make(), this.#first);
    if (this.#arrays !== undefined) runner.attach(this.#arrays);
    return runner;
  }

  #drop(): void {
    try {
      this.#runner?.env.close();
    } catch {
      // It is broken; what it does at its end is of no interest.
    }
  }
}
