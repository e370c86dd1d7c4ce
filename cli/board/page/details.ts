/// <reference lib="dom" />

/** Answer of the server about one thing, asked for again when that has changed. */
export class Details<Answer> {
  /** The last answer. */
  answer: Answer | undefined;
  /** Why there is none. */
  problem = "";
  readonly #path: string;
  readonly #onAnswer: () => void;
  #about: unknown;
  #isAsking = false;
  #isEnded = false;
  #askedAt = -Infinity;

  /**
   * Asks for nothing yet.
   *
   * @param path Address.
   * @param onAnswer Called when there is an answer or a problem.
   */
  constructor(path: string, onAnswer: () => void) {
    this.#path = path;
    this.#onAnswer = onAnswer;
  }

  /** Asks where `about` is another one than at the last time; at most every two seconds. */
  refresh(about: unknown): void {
    if (about === this.#about || this.#isAsking || this.#isEnded) return;
    this.#isAsking = true;
    this.#about = about;
    const wait = Math.max(0, this.#askedAt + SHORTEST_MS - performance.now());
    setTimeout(() => this.#ask(), wait);
  }

  /** Hears no more. */
  end(): void {
    this.#isEnded = true;
  }

  async #ask(): Promise<void> {
    this.#askedAt = performance.now();
    try {
      const response = await fetch(this.#path);
      if (!response.ok) {
        throw new Error(
          MESSAGES[response.status] ?? `the server answers ${response.status}`,
        );
      }
      this.answer = await response.json();
      this.problem = "";
    } catch (error) {
      this.problem = `Cannot read this: ${(error as Error).message}`;
    }
    this.#isAsking = false;
    if (!this.#isEnded) this.#onAnswer();
  }
}

const SHORTEST_MS = 2000;

const MESSAGES: Readonly<Record<number, string>> = {
  403: "open the address again that the command printed",
  404: "it is there no more",
};
