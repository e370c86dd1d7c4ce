import type * as tf from "@tensorflow/tfjs";
import {
  type Graph,
  sameShape,
  type TensorData,
  type TensorType,
  typeName,
} from "../graph/graph.ts";
import { atItsPlace } from "../tracing/source_line.ts";
import {
  type TensorsOf,
  traceFunction,
  type TypeTree,
} from "../tracing/trace.ts";
import { recordsOf, type Tree, treeOf } from "../tracing/tree.ts";
import {
  CompiledProgram,
  type Source,
  type StateLeaf,
  stateLeaves,
} from "./_compiled_program.ts";
import { eagerFunction } from "./_eager.ts";
import { OnnxEngine } from "./_onnx_engine.ts";
import { XlaEngine } from "./_xla_engine.ts";
import {
  type ArraysOf,
  type CompileOptions,
  type EngineName,
  type InputsOf,
  type Settings,
  settingsOf,
} from "./options.ts";

/** A function that {@linkcode compile} made. */
export interface Compiled<Types, Outputs> {
  /** Engine that runs it. */
  readonly engine: EngineName;
  /** Its operations, for the declared shapes. */
  readonly graph: Graph;
  /**
   * Computes.
   *
   * @param inputs A number, array or tensor for each input.
   * @returns Arrays that are overwritten by the next call; what is to last
   * must be copied.
   * @throws {TypeError} If an input is missing or of another type.
   * @throws {RangeError} If an array has another size, or there are more sets
   * of shapes than `maxShapes`.
   */
  run(inputs: InputsOf<Types>): ArraysOf<Outputs>;
}

/**
 * Makes a fast function of a pure function of tensors: it is traced once, and
 * the graph is run by ONNX Runtime.
 *
 * The function must not depend on the numbers of its tensors other than by
 * operations on them; see {@linkcode trace}. Where ONNX Runtime cannot be used
 * the same function runs eagerly on the current backend of TensorFlow.js,
 * unless the engine is `onnx`.
 *
 * @param fn A function from nested records of tensors to nested records.
 * @param options Declarations of the inputs, engine, threads.
 * @returns The function, over arrays.
 * @throws {TypeError} If the function cannot be traced, or throws; the message
 * names the file and the line.
 * @throws {Error} If the engine is `onnx` and cannot be used.
 *
 * @example
 * ```ts
 * import { compile } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const loss = ({ w, x }: { w: tf.Tensor; x: tf.Tensor }) =>
 *   tf.mean<tf.Scalar>(tf.square(tf.sub(tf.tanh(tf.mul(x, w)), 1)));
 * const descend = compile(({ w, x, rate }) => {
 *   const gradient = tf.grad((w) => loss({ w, x }))(w);
 *   return { w: tf.sub(w, tf.mul(gradient, rate)), loss: loss({ w, x }) };
 * }, {
 *   inputs: {
 *     w: { shape: [], dtype: "float32" },
 *     x: { shape: [3], dtype: "float32" },
 *     rate: { shape: [], dtype: "float32" },
 *   },
 * });
 * const { w } = descend.run({ w: 0, x: Float32Array.of(1, 2, 3), rate: 0.1 });
 * assertAlmostEquals(w[0], 0.4, 1e-6);
 * ```
 */
export function compile<
  const Types extends TypeTree,
  Outputs extends object,
>(
  fn: (inputs: TensorsOf<Types>) => Outputs,
  options: CompileOptions<Types>,
): Compiled<Types, Outputs> {
  const settings = settingsOf(fn, options);
  const call = fn as (inputs: unknown) => unknown, { name } = settings;
  const made = onEngine({
    types: options.inputs as Tree<TensorType>,
    state: {},
    trace: (inputs) => traceFunction(call, inputs, `compile ${name}`),
    call: (state, inputs) => ({
      state,
      results: atItsPlace(`run ${name}`, () => call(inputs)),
    }),
  }, settings);
  return made as unknown as Compiled<Types, Outputs>;
}

function onEngine(source: Source, settings: Settings) {
  if (settings.engine === "eager") return eagerFunction(source, settings);
  const Engine = settings.engine === "xla" ? XlaEngine : OnnxEngine;
  return new CompiledProgram(source, settings, Engine);
}

/** Options of {@linkcode compileStep}. */
export interface CompileStepOptions<State, Types>
  extends CompileOptions<Types> {
  /** The state at the start, in nested records; its tensors are copied. */
  readonly state: State;
}

/**
 * New state that a step returns: tensors of the same names. Their ranks are
 * checked when the step is compiled, as operations do not tell them.
 */
export type NextState<State> = {
  readonly [K in keyof State]: NonNullable<State[K]> extends tf.Tensor
    ? tf.Tensor
    : NextState<State[K]>;
};

/** Numbers of a state's tensors, owned by the caller. */
export type StateArrays<State> = {
  readonly [K in keyof State]: NonNullable<State[K]> extends tf.Tensor
    ? { data: TensorData; shape: number[] }
    : StateArrays<State[K]>;
};

/** The state itself, for other compiled functions to read in place. */
export type ResidentState<State> = InputsOf<State>;

/** A step that {@linkcode compileStep} made, and the state that it moves. */
export interface CompiledStep<State, Types, Outputs> {
  /** Engine that runs it. */
  readonly engine: EngineName;
  /** Its operations, for the declared shapes. */
  readonly graph: Graph;
  /**
   * The current state, to be handed to other compiled functions. It is good
   * until the next {@linkcode run}.
   */
  readonly state: ResidentState<State>;
  /**
   * Takes one step: the state is replaced by the new one.
   *
   * @param inputs A number, array or tensor for each input.
   * @returns Results of the function in addition to the state, in arrays that are
   * overwritten by the next call.
   * @throws {TypeError} If an input is missing or of another type.
   * @throws {RangeError} If an array has another size.
   */
  run(inputs: InputsOf<Types>): ArraysOf<Outputs>;
  /**
   * Compiles another step of the same state and inputs, such as one with fewer
   * results: either continues from where the other left the state.
   *
   * @param fn A function as that of {@linkcode compileStep}.
   * @returns The step; it has the state of this one.
   * @throws {TypeError} If the function cannot be traced, or the new state has
   * not the names and shapes of the old one.
   */
  also<Result extends { state: NextState<State> }>(
    fn: (state: State, inputs: TensorsOf<Types>) => Result,
  ): Pick<CompiledStep<State, Types, Omit<Result, "state">>, "run">;
  /** Copies the state out. */
  read(): StateArrays<State>;
  /**
   * Overwrites the state.
   *
   * @param state Arrays of the same names and sizes; copied.
   * @throws {RangeError} If a tensor is missing or has another size.
   */
  write(state: StateArrays<State>): void;
  /**
   * Overwrites some tensors of the state; the others stay.
   *
   * @param part Arrays of the names and sizes of a part of the state; copied.
   * @throws {RangeError} If a tensor is unknown or has another size.
   */
  writePart(part: Partial<StateArrays<State>>): void;
  /** Frees the tensors of an eager state; the step cannot run afterwards. */
  close(): void;
}

/**
 * Makes a fast step of a pure function `(state, inputs) -> { state, ... }`.
 * The state stays where it is between the calls: no number of it is copied
 * unless {@linkcode CompiledStep.read} asks for it.
 *
 * @param fn A function of a state and inputs, each nested records of tensors.
 * It returns the new state as `state` and any other results.
 * @param options The state at the start, declarations of the inputs, engine.
 * @returns The step, holding the state.
 * @throws {TypeError} If the function cannot be traced, or the new state has
 * not the names and shapes of the old one.
 * @throws {Error} If the engine is `onnx` and cannot be used.
 *
 * @example
 * ```ts
 * import { compileStep, rmspropTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const optimizer = rmspropTf1();
 * const params = { w: tf.tensor1d([3, -2]) };
 * const learner = compileStep(({ params, slots }, { target, rate }) => {
 *   const loss = (w: tf.Tensor) => tf.sum(tf.square(tf.sub(w, target)));
 *   const gradients = { w: tf.grad(loss)(params.w) };
 *   const options = { state: slots, learningRate: rate as tf.Scalar };
 *   const step = optimizer.apply(params, gradients, options);
 *   return {
 *     state: { params: step.params as typeof params, slots: step.state },
 *     loss: loss(params.w),
 *   };
 * }, {
 *   state: { params, slots: optimizer.init(params) },
 *   inputs: {
 *     target: { shape: [2], dtype: "float32" },
 *     rate: { shape: [], dtype: "float32" },
 *   },
 * });
 * const target = Float32Array.of(1, 1);
 * for (let i = 0; i < 200; i++) learner.run({ target, rate: 0.1 });
 * assert(learner.run({ target, rate: 0.1 }).loss[0] < 0.01);
 * ```
 */
export function compileStep<
  State extends object,
  const Types extends TypeTree,
  Result extends { state: NextState<State> },
>(
  fn: (state: State, inputs: TensorsOf<Types>) => Result,
  options: CompileStepOptions<State, Types>,
): CompiledStep<State, Types, Omit<Result, "state">> {
  const settings = settingsOf(fn, options);
  const sourceOf = (fn: unknown) =>
    stepSource(fn as StepFunction, {
      types: options.inputs as Tree<TensorType>,
      state: options.state,
      name: settings.name,
    });
  const step = onEngine(sourceOf(fn), settings);
  const also = (fn: unknown) => step.beside(sourceOf(fn));
  const made = Object.assign(step, { also });
  return made as unknown as CompiledStep<State, Types, Omit<Result, "state">>;
}

/** A function from a state and inputs to the next state and results. */
type StepFunction = (
  state: unknown,
  inputs: unknown,
) => { state: unknown };

/** Makes the source of a step, which keeps the names and types of its state. */
function stepSource(
  fn: StepFunction,
  { types, state, name }: Pick<Source, "types" | "state"> & { name: string },
): Source {
  const leaves = stateLeaves(state);
  const declared = treeOf(leaves, recordsOf(state));
  return {
    types,
    state,
    trace: (inputs) => {
      const { graph, outputPaths, outputRecords } = traceFunction(
        (all) => {
          const { state, inputs } = all as Record<string, unknown>;
          return fn(state ?? {}, inputs ?? {});
        },
        { inputs, state: declared },
        `compile ${name}`,
      );
      const made = graph.outputs.map(({ name, value }) =>
        [name, value] as const
      );
      checkNewState(new Map(made), leaves, `compile ${name}`);
      const { state: _, ...records } = outputRecords;
      return { graph, outputPaths, outputRecords: records };
    },
    call: (before, inputs) => {
      const { state, ...results } = atItsPlace(
        `run ${name}`,
        () => fn(before, inputs),
      );
      const made = stateLeaves(state).map(({ name, leaf }) =>
        [name, leaf] as const
      );
      checkNewState(new Map(made), leaves, `run ${name}`);
      return { state, results };
    },
  };
}

/**
 * Checks that the new state has the tensors of the old one.
 *
 * @param made The tensors that were returned, by name.
 * @param leaves The old state.
 * @param action Action that fails otherwise, for the message.
 */
function checkNewState(
  made: ReadonlyMap<string, TensorType>,
  leaves: readonly StateLeaf[],
  action: string,
): void {
  for (const { name: path, leaf } of leaves) {
    const value = made.get(path);
    if (value === undefined) {
      throw new TypeError(
        `Cannot ${action}: it returns no '${path}', which its state has`,
      );
    }
    const same = sameShape(value.shape, leaf.shape) &&
      value.dtype === leaf.dtype;
    if (same) continue;
    throw new TypeError(
      `Cannot ${action}: it returns '${path}' as ${
        typeName(value)
      }, its state has ${typeName(leaf)}`,
    );
  }
  const known = new Set(leaves.map(({ name }) => name));
  for (const path of made.keys()) {
    if (!path.startsWith("state.") || known.has(path)) continue;
    throw new TypeError(
      `Cannot ${action}: it returns '${path}', which its state does not have`,
    );
  }
}
