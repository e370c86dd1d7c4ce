import { addressOf } from "./c_struct.ts";
import {
  type DeviceBuffer,
  type Lent,
  lentTo,
  release,
  sendArray,
} from "./device_buffer.ts";
import { checkInputs, Launch, type LoadedProgram } from "./launch.ts";
import type { Resource, Session } from "./session.ts";
import {
  newArray,
  type OwnArray,
  sizeOf,
  specOf,
  type TensorArray,
  type TensorSpec,
} from "./tensors.ts";

/** An input of a call that is not the same buffer in each run. */
interface Changing {
  readonly input: number;
  readonly spec: TensorSpec;
  readonly lent?: Lent;
}

/** An input that is an output of the run before, in the same memory. */
interface State extends Changing {
  readonly output: number;
}

/** The buffers of a call: its state, arrays it sent, and the last outputs. */
class CallMemory implements Resource {
  readonly session: Session;
  readonly launch: Launch;
  readonly states: readonly State[];
  /** Borrowed arrays of a device whose memory is not this process's. */
  readonly sent: readonly Changing[];
  readonly outputCount: number;
  /** The program's calls, of which this is one until it is freed. */
  readonly calls: Set<Resource>;
  isClosed = false;

  constructor(program: LoadedProgram, given: readonly DeviceBuffer[]) {
    const { session, inputs, outputs, calls } = program;
    this.session = session;
    this.calls = calls;
    this.outputCount = outputs.length;
    const launch = this.launch = new Launch(program);
    given.forEach((it, i) => launch.inputs.set(8 * i, it.handle));
    const all = inputs.map((spec, input) => {
      return { input, spec, lent: lentTo(given[input]), aliases: spec.aliases };
    });
    this.states = all.filter((it) => it.aliases !== undefined)
      .map((it) => ({ ...it, output: it.aliases! }));
    this.sent = session.isHost
      ? []
      : all.filter(({ lent }) => lent?.use === "borrow");
    for (const { input } of this.states) release(given[input]);
    // They are sent before each run: the buffers given stay their owner's.
    for (const { input } of this.sent) launch.inputs.set(8 * input, 0);
    calls.add(this);
  }

  /** Sends an array to the place of its input. */
  send({ input, spec, lent }: Changing): void {
    const to = { dtype: spec.dtype, shape: spec.shape, use: "copy" } as const;
    this.#replace(input, sendArray(this.session, lent!.array, to).handle);
  }

  #replace(input: number, handle: number): void {
    const { session, launch: { inputs } } = this;
    session.destroyBuffer(inputs.get(8 * input));
    inputs.set(8 * input, handle);
  }

  /** Puts the new state in the old one's place. */
  advance(): void {
    const { states, launch: { outputs } } = this;
    for (let i = 0; i < states.length; i++) {
      const { input, output } = states[i];
      const made = outputs.get(8 * output);
      outputs.set(8 * output, 0);
      // The memory was donated; the old buffer itself is still to be freed.
      if (made !== 0) this.#replace(input, made);
    }
  }

  /** Frees what the last run made beside the state. */
  clearOutputs(): void {
    const { session, launch: { outputs } } = this;
    for (let i = 0; i < this.outputCount; i++) {
      const handle = outputs.get(8 * i);
      if (handle === 0) continue;
      outputs.set(8 * i, 0);
      session.destroyBuffer(handle);
    }
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.calls.delete(this);
    this.session.disown(this);
    this.clearOutputs();
    for (const { input } of [...this.states, ...this.sent]) {
      this.#replace(input, 0);
    }
    for (const { lent } of this.states) this.session.finish(lent?.event ?? 0);
  }
}

/**
 * A program with its inputs, to be run again and again. Inputs that the program
 * donates are its state: each run takes the state of the run before, in the same
 * memory. They belong to the call; other inputs stay their owner's, and must
 * live as long.
 *
 * @example
 * ```ts
 * import { isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   const call = client.compile(`
 *     func.func @main(%a: tensor<f32> {tf.aliasing_output = 0 : i32})
 *         -> tensor<f32> {
 *       %b = stablehlo.add %a, %a : tensor<f32>
 *       return %b : tensor<f32>
 *     }
 *   `).bind([client.buffer(Float32Array.of(1), { shape: [] })]);
 *   for (let i = 0; i < 10; i++) call.run();
 *   assertEquals(call.read(0), Float32Array.of(1024));
 * }
 * ```
 */
export class BoundCall {
  readonly #program: LoadedProgram;
  readonly #memory: CallMemory;
  /** Inputs and program, which are freed when they are forgotten. */
  readonly #kept: object[];
  /** Places of state by the output that becomes it. */
  readonly #stateOf: readonly (State | undefined)[];
  #hasRun = false;

  /**
   * Binds inputs; `executable.bind` does it.
   *
   * @param program The program.
   * @param given Its inputs.
   * @param owner What frees the program when it is forgotten.
   * @throws {TypeError} If they do not fit.
   */
  constructor(
    program: LoadedProgram,
    given: readonly DeviceBuffer[],
    owner: object,
  ) {
    checkInputs(program, given);
    this.#program = program;
    this.#kept = [owner, ...given];
    const memory = this.#memory = new CallMemory(program, given);
    program.session.own(this, memory);
    this.#stateOf = program.outputs.map((_, i) =>
      memory.states.find(({ output }) => output === i)
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
    const memory = this.#memory;
    this.#checkOpen("run");
    memory.clearOutputs();
    const { sent } = memory;
    for (let i = 0; i < sent.length; i++) memory.send(sent[i]);
    memory.launch.start();
    try {
      memory.launch.wait();
    } finally {
      memory.advance();
    }
    if (!this.#hasRun) this.#checkShared();
  }

  /** Refuses a program that does not write its state in place. */
  #checkShared(): void {
    this.#hasRun = true;
    const { session, states, launch: { inputs } } = this.#memory;
    if (!session.isHost) return;
    for (const { input, lent } of states) {
      if (lent?.use !== "share") continue;
      const at = session.addressOfBuffer(inputs.get(8 * input));
      if (at === addressOf(lent.array)) continue;
      throw new Error(
        `Cannot share the array of input ${input}: the program wrote its output elsewhere`,
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
    const { session, launch: { inputs, outputs } } = this.#memory;
    specOf(out, this.#program.outputs[output]);
    const state = this.#stateOf[output];
    const handle = state === undefined
      ? outputs.get(8 * output)
      : inputs.get(8 * state.input);
    if (handle === 0) {
      throw new TypeError(`Cannot read output ${output}: nothing was run yet`);
    }
    session.readBuffer(handle, out as T & OwnArray);
    return out;
  }

  /**
   * Takes the state from the arrays that it shares, after these were written:
   * sends them where a device has memory of its own.
   */
  push(): void {
    this.#checkOpen("push the state of");
    if (this.#memory.session.isHost) return;
    for (const it of this.#memory.states) {
      if (it.lent?.use === "share") this.#memory.send(it);
    }
  }

  /**
   * Brings the state into the arrays that it shares: fetches it where a device
   * has memory of its own, and does nothing on a CPU.
   */
  pull(): void {
    this.#checkOpen("pull the state of");
    const { session, states, launch: { inputs } } = this.#memory;
    if (session.isHost) return;
    for (const { input, lent } of states) {
      if (lent?.use !== "share") continue;
      session.readBuffer(inputs.get(8 * input), lent.array);
    }
  }

  /** Frees the state and the last outputs. */
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
