import { cString } from "@bellman/files";
import type { DType, TensorData } from "../graph/graph.ts";
import { ELEMENT_TYPES, encodeModel } from "../onnx/model_builder.ts";
import { type Api, check, create, loadApi } from "./api.ts";
import type { Pointer } from "./native.ts";

/** A tensor whose numbers an array holds. */
export interface BoundTensor {
  readonly name: string;
  readonly data: TensorData;
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/** Level of errors that are logged: those of calls are thrown instead. */
const FATAL = 4;
const ALL_OPTIMIZATIONS = 99;
const SPINNING = cString("session.intra_op.allow_spinning");
const DEVICE_ALLOCATOR = 0;
const DEFAULT_MEMORY = 0;

let shared: ReturnType<typeof makeShared> | undefined;

/** Makes the objects that all sessions of the process share. */
function makeShared() {
  const api = loadApi();
  return {
    api,
    env: create((slot) => api.CreateEnv(FATAL, cString("bellman"), slot)),
    memory: create((slot) =>
      api.CreateCpuMemoryInfo(DEVICE_ALLOCATOR, DEFAULT_MEMORY, slot)
    ),
    runOptions: create((slot) => api.CreateRunOptions(slot)),
  };
}

const sharedParts = () => shared ??= makeShared();

/** A native session, freed after the last that uses it. */
class SessionHandle {
  #users = 0;

  constructor(readonly pointer: Pointer) {}

  retain(): this {
    this.#users++;
    return this;
  }

  release(): void {
    if (--this.#users === 0) sharedParts().api.ReleaseSession(this.pointer);
  }
}

/** Native objects of a binding. */
interface BindingHandle {
  readonly session: SessionHandle;
  readonly binding: Pointer;
  readonly values: readonly Pointer[];
}

const sessions = new FinalizationRegistry<SessionHandle>((it) => it.release());

const bindings = new FinalizationRegistry<BindingHandle>(releaseBinding);

function releaseBinding(it: BindingHandle): void {
  const { api } = sharedParts();
  api.ReleaseIoBinding(it.binding);
  for (const value of it.values) api.ReleaseValue(value);
  it.session.release();
}

/** Loads ONNX Runtime, or throws. */
export function requireRuntime(): void {
  sharedParts();
}

/** A model, ready to run. */
export class OnnxSession {
  readonly #handle: SessionHandle;

  /**
   * @param model Bytes of an ONNX model.
   * @param options Threads within an operation.
   * @throws {Error} If the runtime refuses the model.
   */
  constructor(
    model: Uint8Array<ArrayBuffer>,
    { threads }: { readonly threads: number },
  ) {
    const { api, env } = sharedParts();
    const settings = create((slot) => api.CreateSessionOptions(slot));
    try {
      check(api.SetIntraOpNumThreads(settings, threads));
      // A thread that waits busily for its session's next operation takes the
      // core of another session's thread, or of an environment's.
      check(api.AddSessionConfigEntry(settings, SPINNING, cString("0")));
      check(api.SetSessionGraphOptimizationLevel(settings, ALL_OPTIMIZATIONS));
      const pointer = create((slot) =>
        api.CreateSessionFromArray(
          env,
          model,
          BigInt(model.length),
          settings,
          slot,
        )
      );
      this.#handle = new SessionHandle(pointer).retain();
    } finally {
      api.ReleaseSessionOptions(settings);
    }
    sessions.register(this, this.#handle);
  }

  /** Ties arrays to the model's inputs and outputs. */
  bind(
    inputs: readonly BoundTensor[],
    outputs: readonly BoundTensor[],
  ): Binding {
    return new Binding(this.#handle, { inputs, outputs });
  }
}

/** A session whose inputs and outputs are bound to arrays. */
export class Binding {
  readonly #run: Api["RunWithBinding"];
  readonly #session: Pointer;
  readonly #options: Pointer;
  readonly #binding: Pointer;
  readonly #handle: BindingHandle;
  /** Arrays that native code points to: they must not be collected. */
  readonly #held: readonly TensorData[];
  #open = true;

  constructor(
    session: SessionHandle,
    { inputs, outputs }: {
      inputs: readonly BoundTensor[];
      outputs: readonly BoundTensor[];
    },
  ) {
    const { api, runOptions } = sharedParts();
    const values: Pointer[] = [];
    const bind = (tensor: BoundTensor, to: "BindInput" | "BindOutput") => {
      const value = tensorOver(tensor);
      values.push(value);
      check(api[to](this.#binding, cString(tensor.name), value));
    };
    this.#run = api.RunWithBinding;
    this.#session = session.pointer;
    this.#options = runOptions;
    this.#binding = create((slot) =>
      api.CreateIoBinding(session.pointer, slot)
    );
    this.#held = [...inputs, ...outputs].map(({ data }) => data);
    this.#handle = {
      session: session.retain(),
      binding: this.#binding,
      values,
    };
    bindings.register(this, this.#handle, this);
    try {
      for (const tensor of inputs) bind(tensor, "BindInput");
      for (const tensor of outputs) bind(tensor, "BindOutput");
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The arrays that are bound: inputs, then outputs. */
  get arrays(): readonly TensorData[] {
    return this.#held;
  }

  /** Reads the inputs' arrays, computes, and writes the outputs' arrays. */
  run(): void {
    if (!this.#open) throw new TypeError("Cannot run a binding that is closed");
    const status = this.#run(this.#session, this.#options, this.#binding);
    if (status !== null) check(status);
  }

  /** Frees what it holds in native memory; it cannot run afterwards. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    bindings.unregister(this);
    releaseBinding(this.#handle);
  }
}

/** Makes a tensor of the runtime over an array's memory. */
function tensorOver({ data, shape, dtype }: BoundTensor): Pointer {
  const { api, memory } = sharedParts();
  return create((slot) =>
    api.CreateTensorWithDataAsOrtValue(
      memory,
      data,
      BigInt(data.byteLength),
      BigInt64Array.from(shape, BigInt),
      BigInt(shape.length),
      ELEMENT_TYPES[dtype],
      slot,
    )
  );
}

/** More channels than any machine has in a block. */
const CHANNELS = 64;

let found: number | undefined;

/**
 * Finds the channels that ONNX Runtime's blocked convolutions hold side by side
 * on this machine: 16, 8, or 0 where it has no such convolutions. The last bits of
 * what it computes may differ between machines of other numbers. It has no
 * function for that, so two pixels are put into its layout to see where the
 * second comes to lie.
 *
 * @returns The number of channels.
 *
 * @example
 * ```ts
 * import { blockSize } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * assert([0, 4, 8, 16, 32].includes(blockSize()));
 * ```
 */
export function blockSize(): number {
  return found ??= findBlockSize();
}

function findBlockSize(): number {
  const given = Float32Array.from({ length: 2 * CHANNELS }, (_, i) => i);
  const laid = new Float32Array(given.length);
  try {
    reorder(given, laid);
  } catch {
    return 0;
  }
  const size = laid.indexOf(given[CHANNELS]);
  return size >= 4 && size < CHANNELS ? size : 0;
}

/** Lays two pixels of many channels out as blocks. */
function reorder(given: Float32Array, laid: Float32Array): void {
  const dtype = "float32" as const;
  const x = { name: "x", dtype, shape: [1, 1, 2, CHANNELS], data: given };
  const y = { name: "y", dtype, shape: [1, CHANNELS, 1, 2], data: laid };
  const node = {
    op: "ReorderInput",
    domain: "com.microsoft.nchwc",
    inputs: [x.name],
    outputs: [y.name],
    attributes: { channels_last: 1 },
  };
  const model = { inputs: [x], outputs: [y], nodes: [node], initializers: [] };
  const session = new OnnxSession(encodeModel(model), { threads: 1 });
  const binding = session.bind([x], [y]);
  binding.run();
  binding.close();
}
