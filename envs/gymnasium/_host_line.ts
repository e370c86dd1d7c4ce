import type { ChildGroup } from "../_process/child_group.ts";
import { AnswerPipe } from "../_process/answer_pipe.ts";
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
 * had, by named pipes, which are faster for short messages. From the host there
 * is one only where this thread has no other host to wait for.
 */
export class HostLine {
  /** What was asked last. */
  asked: Order = "open";
  #children: ChildGroup;
  #group: number;
  #id: string;
  #isAlone: boolean;
  #pipe: NamedPipe | undefined;
  #answers: AnswerPipe | undefined;
  /** What has come through the pipe of answers; `null`: look elsewhere. */
  #answer: Uint8Array | null | undefined;

  constructor(
    children: ChildGroup,
    { group, id, isAlone }: { group: number; id: string; isAlone: boolean },
  ) {
    this.#children = children;
    this.#group = group;
    this.#id = id;
    this.#isAlone = isAlone;
  }

  /** The named pipes that the host is to make, for this process of its alone. */
  offerPipes(): string[] {
    this.dropPipes();
    if (!mayMakePipe()) return [];
    return this.#isAlone ? ["input", "output"] : ["input"];
  }

  /** Takes named pipes into use, if the host has made them. */
  takePipes(folder: string | null): void {
    if (folder === null) return;
    const input = `${folder}/input`, output = `${folder}/output`;
    this.#pipe = new NamedPipe(input);
    const answers = this.#isAlone ? new AnswerPipe(output) : undefined;
    const paths = answers && this.#children.hangBell(this.#group, output)
      ? [input, output]
      : [input];
    try {
      this.#switch(paths);
    } catch (error) {
      answers?.close();
      this.dropPipes();
      throw error;
    }
    if (paths.length === 2) this.#answers = answers;
    else answers?.close();
  }

  /** Has the host change over to the pipes; it answers by the way before. */
  #switch(paths: readonly string[]): void {
    this.asked = "switch";
    const text = new TextEncoder().encode(JSON.stringify(paths));
    this.#children.send(this.#group, Uint8Array.of(ORDERS.switch), text);
    const timeoutMs = SWITCH_MS;
    this.#children.waitFor([this.#group], { count: 1, timeoutMs });
    this.receive();
  }

  /**
   * Waits for the answer in the pipe of answers, if there is one.
   *
   * @returns Whether there is nothing to wait for any more; nothing if the answer
   * comes the other way.
   */
  await(timeoutMs: number): boolean | undefined {
    const answers = this.#answers;
    if (answers === undefined || this.#answer === null) return undefined;
    if (this.#answer !== undefined) return true;
    const deadline = performance.now() + timeoutMs;
    const answer = this.#children.sleep(
      this.#group,
      (hasEnded) =>
        timeoutMs <= 0
          ? answers.look()
          : answers.receive(() => hasEnded() || performance.now() > deadline),
    );
    this.#answer = answer;
    if (answer === null) return undefined;
    return answer !== undefined ||
      this.#children.end(this.#group) !== undefined;
  }

  /** Asks for something; a host that has died is told of by `receive`. */
  ask(order: Order, ...parts: readonly Uint8Array[]): void {
    this.asked = order;
    this.#answer = undefined;
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
    const answer = this.#answer ?? receiveAnswer(this.#children, this.#group);
    this.#answer = undefined;
    checkAnswer(answer, this.#id);
    return answer;
  }

  /** Closes the named pipes, on which the host ends. */
  dropPipes(): void {
    this.#pipe?.close();
    this.#answers?.close();
    this.#pipe = this.#answers = this.#answer = undefined;
  }
}
