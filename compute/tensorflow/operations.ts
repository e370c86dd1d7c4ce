import { type OperationAttribute, setAttribute } from "./attributes.ts";
import { cString } from "./c_string.ts";
import type { EagerContext } from "./context.ts";
import { elementOf } from "./data_types.ts";
import type { TensorTable } from "./tensors.ts";

/** A tensor that an operation made. */
export interface OperationOutput {
  /** Its number in the tensor table. */
  id: number;
  /** Its shape. */
  shape: number[];
  /** TensorFlow's number of its element type. */
  dtype: number;
}

/** Runs operations one by one, reusing one native operation object. */
export class OperationRunner {
  readonly #context: EagerContext;
  readonly #tensors: TensorTable;
  #operation: Deno.PointerValue = null;
  /** Addresses of the outputs, and their count, as `TFE_Execute` fills them. */
  #outputs = new BigUint64Array(16);
  readonly #count = new Int32Array(1);

  constructor(context: EagerContext, tensors: TensorTable) {
    this.#context = context;
    this.#tensors = tensors;
  }

  /**
   * Runs an operation.
   *
   * @throws {Error} If TensorFlow refuses it, with its name and reason.
   */
  execute(
    name: string,
    attributes: readonly OperationAttribute[],
    inputs: readonly number[],
    outputs: number,
  ): OperationOutput[] {
    const operation = this.#prepare(name);
    this.#addInputs(operation, name, inputs);
    for (const attribute of attributes) {
      setAttribute(this.#context, operation, attribute);
    }
    return this.#run(operation, name, outputs);
  }

  #prepare(name: string): Deno.PointerValue {
    const { symbols, status, pointer } = this.#context;
    if (this.#operation && symbols.TFE_OpReset) {
      symbols.TFE_OpReset(this.#operation, cString(name), null, status.pointer);
    } else {
      this.#release();
      this.#operation = symbols.TFE_NewOp(
        pointer,
        cString(name),
        status.pointer,
      );
    }
    this.#check(name);
    return this.#operation;
  }

  /** Inputs are held by the operation until it is used again or deleted. */
  #release(): void {
    if (this.#operation) this.#context.symbols.TFE_DeleteOp(this.#operation);
    this.#operation = null;
  }

  #check(name: string): void {
    try {
      this.#context.status.check(`run ${name}`);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #addInputs(
    operation: Deno.PointerValue,
    name: string,
    inputs: readonly number[],
  ): void {
    const { symbols, status } = this.#context;
    for (let i = 0; i < inputs.length; i++) {
      const handle = this.#tensors.handle(inputs[i]);
      symbols.TFE_OpAddInput(operation, handle, status.pointer);
      this.#check(name);
    }
  }

  #run(
    operation: Deno.PointerValue,
    name: string,
    outputs: number,
  ): OperationOutput[] {
    const { symbols, status } = this.#context;
    if (outputs > this.#outputs.length) {
      this.#outputs = new BigUint64Array(2 * outputs);
    }
    this.#count[0] = outputs;
    symbols.TFE_Execute(operation, this.#outputs, this.#count, status.pointer);
    this.#check(name);
    const results: OperationOutput[] = [];
    for (let i = 0; i < this.#count[0]; i++) {
      results.push(this.#describe(this.#outputs[i]));
    }
    this.#refuseUnknownTypes(results);
    return results;
  }

  #refuseUnknownTypes(results: OperationOutput[]): void {
    try {
      for (const { dtype } of results) elementOf(dtype);
    } catch (error) {
      for (const { id } of results) this.#tensors.delete(id);
      throw error;
    }
  }

  #describe(handle: bigint): OperationOutput {
    const { symbols, status } = this.#context;
    const rank = symbols.TFE_TensorHandleNumDims(handle, status.pointer);
    const shape: number[] = [];
    for (let i = 0; i < rank; i++) {
      shape.push(symbols.TFE_TensorHandleDim(handle, i, status.pointer));
    }
    const dtype = symbols.TFE_TensorHandleDataType(handle);
    return { id: this.#tensors.adopt(handle), shape, dtype };
  }
}
