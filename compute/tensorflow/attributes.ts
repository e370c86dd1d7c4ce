import { cString } from "./c_string.ts";
import type { EagerContext } from "./context.ts";

/** TensorFlow's numbers of the kinds of attribute. */
export const ATTRIBUTE_TYPES = {
  TF_ATTR_STRING: 0,
  TF_ATTR_INT: 1,
  TF_ATTR_FLOAT: 2,
  TF_ATTR_BOOL: 3,
  TF_ATTR_TYPE: 4,
  TF_ATTR_SHAPE: 5,
} as const;

/** An attribute of an operation, as the kernels give it. */
export interface OperationAttribute {
  /** Its name in TensorFlow. */
  name: string;
  /** One of `ATTRIBUTE_TYPES`. */
  type: number;
  /** By type: a text, a number or a boolean, or a list of the latter two. */
  value: unknown;
}

type Setter = (
  context: EagerContext,
  operation: Deno.PointerValue,
  name: Uint8Array<ArrayBuffer>,
  value: unknown,
) => void;

function int64s(values: readonly number[]): BigInt64Array<ArrayBuffer> {
  return BigInt64Array.from(values, BigInt);
}

function setString(
  { symbols }: EagerContext,
  operation: Deno.PointerValue,
  name: Uint8Array<ArrayBuffer>,
  value: string,
): void {
  const text = cString(value);
  symbols.TFE_OpSetAttrString(operation, name, text, BigInt(text.length - 1));
}

const SETTERS: Readonly<Record<number, Setter>> = {
  [ATTRIBUTE_TYPES.TF_ATTR_STRING]: (context, operation, name, value) =>
    setString(context, operation, name, value as string),
  [ATTRIBUTE_TYPES.TF_ATTR_INT]: ({ symbols }, operation, name, value) => {
    if (!Array.isArray(value)) {
      return symbols.TFE_OpSetAttrInt(operation, name, BigInt(value as number));
    }
    const list = int64s(value);
    symbols.TFE_OpSetAttrIntList(operation, name, list, list.length);
  },
  [ATTRIBUTE_TYPES.TF_ATTR_FLOAT]: ({ symbols }, operation, name, value) => {
    if (!Array.isArray(value)) {
      return symbols.TFE_OpSetAttrFloat(operation, name, value as number);
    }
    const list = Float32Array.from(value);
    symbols.TFE_OpSetAttrFloatList(operation, name, list, list.length);
  },
  [ATTRIBUTE_TYPES.TF_ATTR_BOOL]: ({ symbols }, operation, name, value) => {
    if (!Array.isArray(value)) {
      return symbols.TFE_OpSetAttrBool(operation, name, value ? 1 : 0);
    }
    const list = Uint8Array.from(value, Number);
    symbols.TFE_OpSetAttrBoolList(operation, name, list, list.length);
  },
  [ATTRIBUTE_TYPES.TF_ATTR_TYPE]: ({ symbols }, operation, name, value) =>
    symbols.TFE_OpSetAttrType(operation, name, value as number),
  [ATTRIBUTE_TYPES.TF_ATTR_SHAPE]: (context, operation, name, value) => {
    const { symbols, status } = context;
    const shape = int64s(value as number[]);
    symbols.TFE_OpSetAttrShape(
      operation,
      name,
      shape,
      shape.length,
      status.pointer,
    );
    status.check("set a shape");
  },
};

/** Sets one attribute of an operation. */
export function setAttribute(
  context: EagerContext,
  operation: Deno.PointerValue,
  { name, type, value }: OperationAttribute,
): void {
  const set = SETTERS[type];
  if (!set) {
    throw new TypeError(`Cannot set attribute ${name} of unknown type ${type}`);
  }
  set(context, operation, cString(name), value);
}
