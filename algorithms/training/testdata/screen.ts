/**
 * Terminal of a fixed width, as far as a progress bar needs one: text that wraps,
 * line ends, moves up and erasing. Lines that have passed above the first are kept.
 */
export class Screen {
  readonly #columns: number;
  readonly #rows: number;
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  /** Part of a sequence whose end has not come yet. */
  #rest = "";

  constructor({ columns = 80, rows = 24 } = {}) {
    this.#columns = columns;
    this.#rows = rows;
  }

  /** All lines so far, those that have passed included. */
  get lines(): string[] {
    return this.#lines.map((line) => line.join("").trimEnd());
  }

  /** Takes what was written. */
  write(text: string): void {
    const whole = this.#rest + text;
    // deno-lint-ignore no-control-regex -- sequences of a terminal
    const end = /\x1b(\[[\d;]*)?$/.exec(whole)?.index ?? whole.length;
    this.#rest = whole.slice(end);
    const parts = whole.slice(0, end).matchAll(
      // deno-lint-ignore no-control-regex
      /\x1b\[([\d;]*)([A-Za-z])|[^]/gu,
    );
    for (const [part, count, command] of parts) {
      if (command !== undefined) this.#obey(command, Number(count || 1));
      else this.#put(part);
    }
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#next();
    else {
      if (this.#column === this.#columns) {
        this.#next();
        this.#column = 0;
      }
      const line = this.#lines[this.#row];
      while (line.length < this.#column) line.push(" ");
      line[this.#column++] = character;
    }
  }

  /** Moves a line down. A terminal's own driver returns to the first column. */
  #next(): void {
    this.#column = 0;
    if (++this.#row === this.#lines.length) this.#lines.push([]);
  }

  #obey(command: string, count: number): void {
    const top = Math.max(0, this.#lines.length - this.#rows);
    if (command === "A") this.#row = Math.max(top, this.#row - count);
    else if (command === "K") this.#lines[this.#row].length = this.#column;
    else if (command === "J") {
      this.#lines[this.#row].length = this.#column;
      this.#lines.length = this.#row + 1;
    } else if (command !== "m") {
      throw new Error(`This screen does not know the command ${command}`);
    }
  }
}
