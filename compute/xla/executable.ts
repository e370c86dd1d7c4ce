import { BoundCall, type CallInput, type LoadedProgram } from "./bound_call.ts";
import { type CStruct, memoryAt } from "./c_struct.ts";
import type { ClientHandle, Resource } from "./client_handle.ts";
import { type PjrtFunction, STRUCTS, SUBJECT } from "./pjrt_api.ts";
import { newArguments } from "./plugin.ts";
import type { InputSpec, ProgramSignature } from "./signature.ts";
import type { TensorSpec } from "./tensors.ts";

const {
  PJRT_Executable_GetCompiledMemoryStats_Args: MEMORY,
  PJRT_Executable_Serialize_Args: SERIALIZE,
} = STRUCTS;

/** Bytes that a program needs; plugins for CPUs report none for its code. */
export interface ProgramMemory {
  /** Machine code. */
  readonly code: number;
  /** Inputs. */
  readonly inputs: number;
  /** Outputs. */
  readonly outputs: number;
  /** Outputs in the memory of donated inputs. */
  readonly aliased: number;
  /** Numbers between inputs and outputs. */
  readonly temporary: number;
}

/** A loaded program, freed after the calls that are bound to it. */
class ProgramHandle implements LoadedProgram, Resource {
  readonly client: ClientHandle;
  readonly handle: number;
  readonly inputs: readonly InputSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly calls = new Set<Resource>();
  isClosed = false;
  /** The `PJRT_Executable` of the `PJRT_LoadedExecutable`. */
  readonly #executable: number;

  constructor(
    client: ClientHandle,
    handle: number,
    signature: ProgramSignature,
  ) {
    this.client = client;
    this.handle = handle;
    this.inputs = signature.inputs;
    this.outputs = signature.outputs;
    const args = newArguments().set(SUBJECT, handle);
    client.plugin.call(
      "PJRT_LoadedExecutable_GetExecutable",
      args,
      "read the program",
    );
    const { executable } = STRUCTS.PJRT_LoadedExecutable_GetExecutable_Args;
    this.#executable = args.get(executable);
  }

  checkOpen(action: string): void {
    if (!this.isClosed) return;
    throw new TypeError(`Cannot ${action} a program that was closed`);
  }

  ask(name: PjrtFunction): CStruct {
    this.checkOpen("read");
    const args = newArguments().set(SUBJECT, this.#executable);
    this.client.plugin.call(name, args, "read the program");
    return args;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { client, client: { plugin }, handle } = this;
    client.disown(this);
    for (const it of this.calls) it.close();
    const free = "free the program";
    const args = newArguments().set(SUBJECT, this.#executable);
    plugin.call("PJRT_Executable_Destroy", args, free);
    plugin.call(
      "PJRT_LoadedExecutable_Destroy",
      args.set(SUBJECT, handle),
      free,
    );
  }
}

/**
 * A compiled program on its device.
 *
 * @example
 * ```ts
 * import { isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   using double = client.compile(`
 *     func.func @main(%a: tensor<i32>) -> tensor<i32> {
 *       %b = stablehlo.add %a, %a : tensor<i32>
 *       return %b : tensor<i32>
 *     }
 *   `);
 *   using call = double.bind([{ array: Int32Array.of(3) }]);
 *   call.run();
 *   assertEquals(call.read(0), Int32Array.of(6));
 * }
 * ```
 */
export class Executable {
  readonly #program: ProgramHandle;

  /**
   * Takes over a `PJRT_LoadedExecutable`; `client.compile` makes them.
   *
   * @param client Its client.
   * @param handle Its address.
   * @param signature Its inputs and outputs.
   */
  constructor(
    client: ClientHandle,
    handle: number,
    signature: ProgramSignature,
  ) {
    this.#program = new ProgramHandle(client, handle, signature);
    client.own(this, this.#program);
  }

  /** Inputs. */
  get inputs(): readonly InputSpec[] {
    return this.#program.inputs;
  }

  /** Outputs. */
  get outputs(): readonly TensorSpec[] {
    return this.#program.outputs;
  }

  /** Bytes that it needs. */
  get memory(): ProgramMemory {
    const args = this.#program.ask("PJRT_Executable_GetCompiledMemoryStats");
    return {
      code: args.int64(MEMORY.generated_code_size_in_bytes),
      inputs: args.int64(MEMORY.argument_size_in_bytes),
      outputs: args.int64(MEMORY.output_size_in_bytes),
      aliased: args.int64(MEMORY.alias_size_in_bytes),
      temporary: args.int64(MEMORY.temp_size_in_bytes),
    };
  }

  /**
   * Returns its machine code, which the cache of a client keeps: another plugin, or
   * a machine of another kind, may load it and compute wrong numbers.
   */
  serialize(): Uint8Array<ArrayBuffer> {
    return takeSerialized(this.#program.ask("PJRT_Executable_Serialize"));
  }

  /**
   * Binds inputs for any number of runs: those that it donates become the state
   * of the call.
   *
   * @param given Its inputs.
   * @throws {TypeError} If they do not fit.
   * @throws {XlaError} If the device has no memory left.
   */
  bind(given: readonly CallInput[]): BoundCall {
    this.#program.checkOpen("bind");
    return new BoundCall(this.#program, given, this);
  }

  /** Frees it and the calls that are bound to it. */
  close(): void {
    this.#program.close();
  }

  /** Frees it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Copies what a plugin serialized and frees it: arguments for programs and for
 * topologies have the same fields.
 */
export function takeSerialized(args: CStruct): Uint8Array<ArrayBuffer> {
  const address = args.get(SERIALIZE.serialized_bytes);
  const bytes = memoryAt(address, args.get(SERIALIZE.serialized_bytes_size))
    .slice(0);
  const definition = { parameters: ["pointer"], result: "void" } as const;
  const deleter = Deno.UnsafePointer.create<typeof definition>(
    BigInt(args.get(SERIALIZE.serialized_executable_deleter)),
  )!;
  const backing = BigInt(args.get(SERIALIZE.serialized_executable));
  new Deno.UnsafeFnPointer(deleter, definition)
    .call(Deno.UnsafePointer.create(backing));
  return new Uint8Array(bytes);
}
