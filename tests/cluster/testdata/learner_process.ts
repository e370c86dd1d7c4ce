/** A learner on the head of the cluster, whose lines a test reads. */
import { assert } from "@std/assert";
import { HEAD, onNode, parentOf, PYTHON, running, signal } from "./machines.ts";

const LEARNER = new URL("./learner.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** A line of a learner. */
export interface Line {
  notice?: string;
  hosts?: number[];
  lost?: number[];
  silenceMs?: number;
  ended?: string;
  steps?: number;
  executed?: number;
  consumed?: number;
  lostGroups?: number;
  cutOff?: number;
}

/** A learner that steps environments until it is told to stop. */
export class LearnerProcess implements AsyncDisposable {
  /** Its lines so far. */
  readonly lines: Line[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #trace = Deno.makeTempFileSync({ prefix: "bellman-trace-" });
  readonly #read: Promise<void>;
  #wake: () => void = () => {};
  #isOver = false;

  constructor(
    { cluster = HEAD, stepTimeoutMs = 3000, env = {} }: {
      cluster?: string;
      stepTimeoutMs?: number;
      env?: Record<string, string>;
    } = {},
  ) {
    const flags = ["-q", "-A", "--no-check", `--config=${CONFIG}`];
    const args = [cluster, PYTHON, this.#trace, String(stepTimeoutMs)];
    this.#child = onNode(0, [
      Deno.execPath(),
      "run",
      ...flags,
      LEARNER,
      ...args,
    ], {
      stdin: "piped",
      stdout: "piped",
      env,
    }).spawn();
    this.#read = this.#readLines();
  }

  async #readLines(): Promise<void> {
    const text = this.#child.stdout.pipeThrough(new TextDecoderStream());
    let rest = "";
    for await (const piece of text) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines.map((it) => JSON.parse(it)));
      this.#wake();
    }
    this.#isOver = true;
    this.#wake();
  }

  /** Waits for a line that has something. */
  async line(name: keyof Line): Promise<Line> {
    await this.until(() => this.lines.some((it) => it[name] !== undefined));
    return this.lines.find((it) => it[name] !== undefined)!;
  }

  /** Waits until its lines say something, for a minute and a half at most. */
  async until(isSaid: () => boolean): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, 90_000);
    try {
      for (;;) {
        if (isSaid()) return;
        const isMissing = this.#isOver || isLate;
        assert(!isMissing, JSON.stringify(this.lines));
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Its process, and that of the driver, which it has started. */
  processes(): { learner?: number; driver?: number } {
    const learner = running(0, this.#trace)
      .find((pid) => parentOf(pid) === this.#child.pid);
    const driver = running(0, '"code":').find((pid) =>
      parentOf(pid) === learner
    );
    return { learner, driver };
  }

  /** Stops it; returns its counts. */
  async stop(): Promise<Line> {
    const writer = this.#child.stdin.getWriter();
    await writer.write(Uint8Array.of(10));
    await writer.close();
    return await this.line("steps");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of [...running(0, this.#trace), this.#child.pid]) {
      try {
        signal([pid]);
      } catch {
        // It has ended.
      }
    }
    await this.#child.status;
    await this.#read;
    await this.#child.stdin.close().catch(() => {});
    Deno.removeSync(this.#trace);
  }
}
