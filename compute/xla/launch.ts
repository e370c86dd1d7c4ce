import { CStruct } from "./c_struct.ts";
import { type DeviceBuffer, lentTo } from "./device_buffer.ts";
import { STRUCTS, SUBJECT } from "./pjrt_api.ts";
import { newArguments, type PluginCall } from "./plugin.ts";
import type { Resource, Session } from "./session.ts";
import type { InputSpec } from "./signature.ts";
import { formatSpec, type TensorSpec } from "./tensors.ts";

const { PJRT_LoadedExecutable_Execute_Args: EXECUTE } = STRUCTS;

/** A loaded program as its calls see it. */
export interface LoadedProgram {
  /** Its client. */
  readonly session: Session;
  /** Address of the `PJRT_LoadedExecutable`. */
  readonly handle: number;
  /** Inputs. */
  readonly inputs: readonly InputSpec[];
  /** Outputs. */
  readonly outputs: readonly TensorSpec[];
  /** Calls that are bound to it, to be freed before it. */
  readonly calls: Set<Resource>;
}

/** The arguments of `PJRT_LoadedExecutable_Execute`, for one device. */
export class Launch {
  /** Addresses of the inputs. */
  readonly inputs: CStruct;
  /** Addresses of the outputs. */
  readonly outputs: CStruct;
  readonly #session: Session;
  readonly #execute: PluginCall;
  readonly #args: CStruct;
  readonly #done = new CStruct(8);

  /** @param program The program. */
  constructor({ session, handle, inputs, outputs }: LoadedProgram) {
    this.#session = session;
    this.#execute = executeOf(session, inputs);
    this.inputs = new CStruct(8 * inputs.length);
    this.outputs = new CStruct(8 * outputs.length);
    this.#args = newArguments().set(SUBJECT, handle)
      .point(EXECUTE.options, newArguments())
      .point(EXECUTE.argument_lists, new CStruct(8).point(0, this.inputs))
      .set(EXECUTE.num_devices, 1)
      .set(EXECUTE.num_args, inputs.length)
      .point(EXECUTE.output_lists, new CStruct(8).point(0, this.outputs))
      .point(EXECUTE.device_complete_events, this.#done);
  }

  /**
   * Starts the program; its outputs are there, their numbers not yet.
   *
   * @throws {XlaError} If the plugin refuses the inputs or has no memory.
   */
  start(): void {
    this.#execute(this.#args);
  }

  /**
   * Waits for the numbers.
   *
   * @throws {XlaError} If the program failed.
   */
  wait(): void {
    this.#session.finish(this.#done.get(0));
  }
}

/**
 * Returns the function that runs a program. One that fails for want of memory
 * has used up its donated inputs by then: called again for the error's words, it
 * would only say that they are gone.
 */
function executeOf(
  { execute, plugin }: Session,
  inputs: readonly InputSpec[],
): PluginCall {
  if (inputs.every(({ aliases }) => aliases === undefined)) return execute;
  return (args) =>
    plugin.call("PJRT_LoadedExecutable_Execute", args, "run the program");
}

/**
 * Checks inputs, of which plugins only compare number and bytes: a shape or
 * type of as many bytes would be read as if it were the right one.
 *
 * @throws {TypeError} If they do not fit.
 */
export function checkInputs(
  { inputs }: LoadedProgram,
  given: readonly DeviceBuffer[],
): void {
  if (given.length !== inputs.length) {
    throw new TypeError(
      `Cannot run the program with ${given.length} inputs: expected ${inputs.length}`,
    );
  }
  inputs.forEach((input, i) => {
    const found = formatSpec(given[i].spec), wanted = formatSpec(input);
    if (found !== wanted) {
      throw new TypeError(
        `Cannot run the program with a ${found} as input ${i}: expected a ${wanted}`,
      );
    }
    const use = lentTo(given[i])?.use;
    const isDonated = input.aliases !== undefined;
    if (use === undefined || (use === "share") === isDonated) return;
    throw new TypeError(
      `Cannot ${use} the array of input ${i}: the program ${
        isDonated ? "donates" : "does not donate"
      } it`,
    );
  });
}
