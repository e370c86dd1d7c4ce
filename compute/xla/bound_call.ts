import { addressOf, CStruct } from "./c_struct.ts";
import type { ClientHandle, Resource } from "./client_handle.ts";
import { STRUCTS, SUBJECT } from "./pjrt_api.ts";
import { newArguments, type PluginCall } from "./plugin.ts";
import type { InputSpec } from "./signature.ts";
import {
  checkArray,
  isAligned,
  newArray,
  type OwnArray,
  sizeOf,
  type TensorArray,
  type TensorSpec,
} from "./tensors.ts";

const { PJRT_LoadedExecutable_Execute_Args: EXECUTE } = STRUCTS;

/**
 * Relation of an input to the array that it is made of.
 *
 * - `copy`: none; the array is free at once.
 * - `borrow`: a run reads what the array holds then: on a CPU in place, elsewhere
 *   the array is sent before each run.
 * - `share`: of a donated input; on a CPU a run writes the new state into the
 *   array. Elsewhere `push` and `pull` send and fetch it.
 */
export type ArrayUse = "copy" | "borrow" | "share";

/** An input of a call: an array, and its relation to the program's memory. */
export interface CallInput {
  /** The numbers, of the type and size that the program takes. */
  readonly array: TensorArray;
  /**
   * Relation to the array.
   *
   * @default "copy"
   */
  readonly use?: ArrayUse;
}

/** A loaded program as its calls see it. */
export interface LoadedProgram {
  /** Its client. */
  readonly client: ClientHandle;
  /** Address of the `PJRT_LoadedExecutable`. */
  readonly handle: number;
  /** Inputs. */
  readonly inputs: readonly InputSpec[];
  /** Outputs. */
  readonly outputs: readonly TensorSpec[];
  /** Calls that are bound to it, to be freed before it. */
  readonly calls: Set<Resource>;
}

/** An input with its array. */
interface Given extends InputSpec {
  readonly place: number;
  readonly array: OwnArray;
  readonly use: ArrayUse;
}

/** An input that is an output of the run before, in the same memory. */
interface State extends Given {
  readonly aliases: number;
}

/** The buffers of a call: its inputs, and the outputs of the last run. */
class CallMemory implements Resource {
  readonly client: ClientHandle;
  readonly states: readonly State[];
  /** Borrowed arrays of a device whose memory is not this process's. */
  readonly sent: readonly Given[];
  /** Addresses of the inputs. */
  readonly inputs: CStruct;
  /** Addresses of the outputs. */
  readonly outputs: CStruct;
  isClosed = false;
  readonly #program: LoadedProgram;
  readonly #execute: PluginCall;
  readonly #args: CStruct;
  readonly #done = new CStruct(8);
  /** Events that come when arrays are let go of. */
  readonly #events: number[] = [];

  constructor(program: LoadedProgram, given: readonly Given[]) {
    const { client, inputs, outputs } = program;
    this.#program = program;
    this.client = client;
    this.states = given.filter((it): it is State => it.aliases !== undefined);
    this.sent = client.isHost ? [] : given.filter((it) => it.use === "borrow");
    this.inputs = new CStruct(8 * inputs.length);
    this.outputs = new CStruct(8 * outputs.length);
    // A program that runs out of memory has used up its donated inputs by then:
    // called again for the error's message, it would say that they are gone.
    this.#execute = this.states.length === 0
      ? client.execute
      : (args) =>
        client.plugin.call(
          "PJRT_LoadedExecutable_Execute",
          args,
          "run the program",
        );
    this.#args = newArguments().set(SUBJECT, program.handle)
      .point(EXECUTE.options, newArguments())
      .point(EXECUTE.argument_lists, new CStruct(8).point(0, this.inputs))
      .set(EXECUTE.num_devices, 1)
      .set(EXECUTE.num_args, inputs.length)
      .point(EXECUTE.output_lists, new CStruct(8).point(0, this.outputs))
      .point(EXECUTE.device_complete_events, this.#done);
    program.calls.add(this);
    try {
      for (const it of given) {
        if (this.sent.includes(it)) continue;
        this.send(it, client.isHost ? it.use : "copy");
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Makes the buffer of an input from its array, which it copies or uses in place. */
  send(it: Given, use: ArrayUse = "copy"): void {
    const { handle, event } = this.client.send(it.array, it, use);
    this.#replace(it.place, handle);
    if (event !== 0) this.#events.push(event);
  }

  #replace(input: number, handle: number): void {
    this.client.destroyBuffer(this.inputs.get(8 * input));
    this.inputs.set(8 * input, handle);
  }

  /** Runs the program, waits for it, and puts the new state in the old one's place. */
  run(): void {
    this.#clearOutputs();
    for (let i = 0; i < this.sent.length; i++) this.send(this.sent[i]);
    this.#execute(this.#args);
    try {
      this.client.finish(this.#done.get(0));
    } finally {
      this.#advance();
    }
  }

  #advance(): void {
    const { states, outputs } = this;
    for (let i = 0; i < states.length; i++) {
      const { place, aliases } = states[i];
      const made = outputs.get(8 * aliases);
      outputs.set(8 * aliases, 0);
      // The memory was donated; the old buffer itself is still to be freed.
      if (made !== 0) this.#replace(place, made);
    }
  }

  /** Frees what the last run made in addition to the state. */
  #clearOutputs(): void {
    const { client, outputs } = this;
    const count = this.#program.outputs.length;
    for (let i = 0; i < count; i++) {
      const handle = outputs.get(8 * i);
      if (handle === 0) continue;
      outputs.set(8 * i, 0);
      client.destroyBuffer(handle);
    }
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#program.calls.delete(this);
    this.client.disown(this);
    this.#clearOutputs();
    for (let i = 0; i < this.#program.inputs.length; i++) this.#replace(i, 0);
    for (const event of this.#events) this.client.finish(event);
  }
}

/**
 * A program with its inputs, to be run again and again. Inputs that the program
 * donates are its state: each run takes the state of the run before, in the same
 * memory.
 *
 * @example
 * ```ts
 * import { alignedArray, isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * const program = `
 *   func.func @main(
 *     %state: tensor<2xf32> {tf.aliasing_output = 0 : i32},
 *     %step: tensor<2xf32>) -> tensor<2xf32> {
 *     %sum = stablehlo.add %state, %step : tensor<2xf32>
 *     return %sum : tensor<2xf32>
 *   }
 * `;
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   const state = alignedArray("f32", 2), step = alignedArray("f32", 2);
 *   const call = client.compile(program).bind([
 *     { array: state, use: "share" },
 *     { array: step, use: "borrow" },
 *   ]);
 *   for (let i = 0; i < 3; i++) {
 *     step.set([1, 10]);
 *     call.run();
 *   }
 *   assertEquals(state, Float32Array.of(3, 30));
 * }
 * ```
 */
export class BoundCall {
  readonly #program: LoadedProgram;
  readonly #memory: CallMemory;
  /** Arrays and program, which are freed when they are forgotten. */
  readonly #kept: object[];
  /** Places of state by the output that becomes it. */
  readonly #stateOf: readonly (State | undefined)[];
  #hasRun = false;

  /**
   * Binds inputs; `executable.bind` does it.
   *
   * @param program The program.
   * @param given Its inputs.
   * @param owner Object that frees the program when it is forgotten.
   * @throws {TypeError} If they do not fit.
   * @throws {XlaError} If the device has no memory left.
   */
  constructor(
    program: LoadedProgram,
    given: readonly CallInput[],
    owner: object,
  ) {
    const inputs = checkInputs(program, given);
    this.#program = program;
    // Others are copied, or held as state.
    const borrowed = inputs.filter(({ use }) => use === "borrow");
    this.#kept = [owner, ...borrowed.map(({ array }) => array)];
    const memory = this.#memory = new CallMemory(program, inputs);
    program.client.own(this, memory);
    this.#stateOf = program.outputs.map((_, i) =>
      memory.states.find(({ aliases }) => aliases === i)
    );
  }

  /**
   * Runs the program and waits for it. Outputs of the run before are gone,
   * except for the state.
   *
   * @throws {XlaError} If it fails.
   * @throws {TypeError} If the call, its program or its client was closed.
   */
  run(): void {
    this.#checkOpen("run");
    this.#memory.run();
    if (!this.#hasRun) this.#checkShared();
  }

  /** Refuses a program that does not write its state in place. */
  #checkShared(): void {
    this.#hasRun = true;
    const { client, states, inputs } = this.#memory;
    if (!client.isHost) return;
    for (const { place, use, array } of states) {
      if (use !== "share") continue;
      const at = client.addressOfBuffer(inputs.get(8 * place));
      if (at === addressOf(array)) continue;
      throw new Error(
        `Cannot share the array of input ${place}: the program wrote its output elsewhere`,
      );
    }
  }

  /** Copies an output of the last run into a new array. */
  read(output: number): TensorArray {
    const { dtype, shape } = this.#program.outputs[output];
    return this.readInto(output, newArray(dtype, sizeOf(shape)));
  }

  /**
   * Copies an output of the last run, or the state that it became, into an
   * array and returns it.
   *
   * @param output Index of the output.
   * @param out Array of its length and type.
   * @throws {TypeError} If the array does not fit or nothing was run yet.
   */
  readInto<T extends TensorArray>(output: number, out: T): T {
    this.#checkOpen("read");
    const { client, inputs, outputs } = this.#memory;
    checkArray(out, this.#program.outputs[output]);
    const state = this.#stateOf[output];
    const handle = state === undefined
      ? outputs.get(8 * output)
      : inputs.get(8 * state.place);
    if (handle === 0) {
      throw new TypeError(`Cannot read output ${output}: nothing was run yet`);
    }
    client.readBuffer(handle, out as T & OwnArray);
    return out;
  }

  /**
   * Takes the state from the arrays that it shares, after these were written:
   * sends them where a device has its own memory.
   */
  push(): void {
    this.#checkOpen("push the state of");
    if (this.#memory.client.isHost) return;
    for (const it of this.#memory.states) {
      if (it.use === "share") this.#memory.send(it);
    }
  }

  /**
   * Brings the state into the arrays that it shares: fetches it where a device
   * has its own memory, and does nothing on a CPU.
   */
  pull(): void {
    this.#checkOpen("pull the state of");
    const { client, states, inputs } = this.#memory;
    if (client.isHost) return;
    for (const { place, use, array } of states) {
      if (use === "share") client.readBuffer(inputs.get(8 * place), array);
    }
  }

  /** Frees its buffers: the arrays are the caller's again. */
  close(): void {
    this.#memory.close();
    this.#kept.length = 0;
  }

  #checkOpen(action: string): void {
    if (!this.#memory.isClosed) return;
    throw new TypeError(`Cannot ${action} a call that was closed`);
  }

  /** Frees it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Checks inputs, of which plugins only compare number and bytes.
 *
 * @throws {TypeError} If they do not fit, or an array is to be used in place and
 * is not aligned: XLA would copy it without a word.
 */
function checkInputs(
  { client, inputs }: LoadedProgram,
  given: readonly CallInput[],
): Given[] {
  if (given.length !== inputs.length) {
    throw new TypeError(
      `Cannot run the program with ${given.length} inputs: expected ${inputs.length}`,
    );
  }
  return given.map(({ array, use = "copy" }, place) => {
    checkArray(array, inputs[place], `input ${place}, `);
    const isDonated = inputs[place].aliases !== undefined;
    if (use !== "copy" && (use === "share") !== isDonated) {
      throw new TypeError(
        `Cannot ${use} the array of input ${place}: the program ${
          isDonated ? "donates" : "does not donate"
        } it`,
      );
    }
    const own = array as OwnArray;
    if (use !== "copy" && client.isHost && !isAligned(own)) {
      throw new TypeError(
        `Cannot ${use} the array of input ${place}, a ${array.constructor.name} that is not aligned to 64 bytes: expected one of alignedArray`,
      );
    }
    return { ...inputs[place], place, array: own, use };
  });
}
