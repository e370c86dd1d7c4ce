import { readCString } from "./c_string.ts";
import type { TensorFlowSymbols } from "./symbols.ts";

/** The one status object that all calls write to, and what it says. */
export class Status {
  /** For calls that report through a status. */
  readonly pointer: Deno.PointerValue;
  readonly #symbols: TensorFlowSymbols;

  constructor(symbols: TensorFlowSymbols) {
    this.#symbols = symbols;
    this.pointer = symbols.TF_NewStatus();
  }

  /** Throws, in one line, if the last call failed. */
  check(action: string): void {
    if (this.#symbols.TF_GetCode(this.pointer) === 0) return;
    const message = readCString(this.#symbols.TF_Message(this.pointer));
    throw new Error(
      `TensorFlow cannot ${action}: ${message.trim().split("\n")[0]}`,
    );
  }
}
