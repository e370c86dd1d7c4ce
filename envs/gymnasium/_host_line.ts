import type { ChildGroup } from "../_process/child_group.ts";
import { NamedPipe } from "../_process/named_pipe.ts";
import { receiveAnswer } from "../workers/_receive_answer.ts";
import { checkAnswer, ORDERS } from "./_messages.ts";

/** What a host can be asked. */
export type Order = keyof typeof ORDERS;

/** How long a host may take to change over to another pipe. */
const SWITCH_MS = 10_000;
const NOTHING: readonly Uint8Array[] = [];

/** Whether a named pipe can be made: not on Windows, nor without permission. */
function mayMakePipe(): boolean {
  const isGranted = (name: "read" | "write"): boolean =>
    Deno.permissions.querySync({ name }).state === "granted";
  return Deno.build.os !== "windows" && isGranted("read") && isGranted("write");
}

/**
 * The way to and from one host: by the pipes of a child, and, where that can be
 * had, to it by a named pipe, which is faster for short messages.
 */
export class HostLine {
  /** What was asked last. */
  asked: Order = "open";
  #children: ChildGroup;
  #group: number;
  #id: string;
  #folder: string | undefined;
  #pipe: NamedPipe | undefined;

  constructor(children: ChildGroup, group: number, id: string) {
    this.#children = children;
    this.#group = group;
    this.#id = id;
  }

  /** Where the host may make a named pipe, for this process of its alone. */
  offerPipe(): string | null {
    this.dropPipe();
    if (!mayMakePipe()) return null;
    this.#folder = Deno.makeTempDirSync({ prefix: "bellman-" });
    return `${this.#folder}/input`;
  }

  /** Takes the named pipe into use, if the host has made it. */
  takePipe(hasPipe: boolean): void {
    const path = `${this.#folder}/input`;
    if (hasPipe) {
      const pipe = new NamedPipe(path);
      try {
        this.ask("switch", new TextEncoder().encode(path));
        const timeoutMs = SWITCH_MS;
        this.#children.waitFor([this.#group], { count: 1, timeoutMs });
        this.receive();
      } catch (error) {
        pipe.close();
        throw error;
      }
      this.#pipe = pipe;
    }
    this.#removeFolder();
  }

  /** Asks for something; a host that has died is told of by `receive`. */
  ask(order: Order, ...parts: readonly Uint8Array[]): void {
    this.asked = order;
    const message = [Uint8Array.of(ORDERS[order]), ...parts];
    if (this.#pipe === undefined) {
      this.#children.send(this.#group, ...message);
      return;
    }
    this.#children.release(this.#group);
    if (this.#pipe.send(message)) return;
    // Nothing in the one pipe means: look into the other.
    this.#pipe.send(NOTHING);
    this.#children.send(this.#group, ...message);
  }

  /** The answer, as far as there is one; throws what the host says instead. */
  receive(): Uint8Array {
    const answer = receiveAnswer(this.#children, this.#group);
    checkAnswer(answer, this.#id);
    return answer;
  }

  /** Closes and removes the named pipe, on which the host ends. */
  dropPipe(): void {
    this.#pipe?.close();
    this.#pipe = undefined;
    this.#removeFolder();
  }

  #removeFolder(): void {
    if (this.#folder === undefined) return;
    Deno.removeSync(this.#folder, { recursive: true });
    this.#folder = undefined;
  }
}
