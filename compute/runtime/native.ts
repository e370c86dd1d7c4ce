/** Functions of native libraries, by Deno's own means or by koffi in Node. */
import { isDeno, openLibrary } from "@bellman/files";
import { requirePackage } from "./npm_packages.ts";

/** Type of a parameter or result; a buffer is the memory of an array. */
export type NativeType = "pointer" | "buffer" | "usize" | "i32" | "u32";

/** Parameters and result of a function. */
export interface Signature {
  readonly parameters: readonly NativeType[];
  readonly result: NativeType | "void";
}

declare const address: unique symbol;

/** Address in native memory, not null. */
export interface Pointer {
  readonly [address]: never;
}

/** Argument of each type. */
interface Arguments {
  readonly pointer: Pointer | null;
  readonly buffer: ArrayBufferView;
  readonly usize: bigint;
  readonly i32: number;
  readonly u32: number;
}

/** A function of a library. */
export type NativeFunction<Parameters extends readonly NativeType[]> = (
  ...args: { -readonly [I in keyof Parameters]: Arguments[Parameters[I]] }
) => Pointer | null;

// deno-lint-ignore no-explicit-any -- one of any parameters
type AnyFunction = NativeFunction<any>;

/** Means of a runtime to call native code. */
export interface Native {
  /** Opens a library for the rest of the process; null for what it lacks. */
  open(
    path: string,
    symbols: Readonly<Record<string, Signature>>,
  ): Readonly<Record<string, AnyFunction | null>>;
  /** Returns the function at a place in a table of pointers to functions. */
  functionAt(table: Pointer, place: number, type: Signature): AnyFunction;
  /** Reads the text at an address, up to its zero. */
  text(pointer: Pointer): string;
  /** Reads the address that native code has written into an array. */
  pointerIn(slot: BigUint64Array): Pointer | null;
}

/** Bytes of a pointer, on every platform that ONNX Runtime has a library for. */
const POINTER_BYTES = 8;

const byDeno: Native = {
  open(path, symbols) {
    const optional = Object.entries(symbols)
      .map(([name, it]) => [name, { ...it, optional: true }]);
    return openLibrary(path, Object.fromEntries(optional)) as never;
  },
  functionAt(table, place, type) {
    const view = new Deno.UnsafePointerView(table as never);
    const bound = new Deno.UnsafeFnPointer(
      view.getPointer(POINTER_BYTES * place) as never,
      type,
    );
    return bound.call.bind(bound) as AnyFunction;
  },
  text: (pointer) => Deno.UnsafePointerView.getCString(pointer as never),
  pointerIn: ([value]) => Deno.UnsafePointer.create(value) as Pointer | null,
};

/** Part of the package koffi that is used; its pointers are whole numbers. */
interface Koffi {
  load(path: string): { func(name: string, ...type: unknown[]): AnyFunction };
  proto(result: string, parameters: readonly string[]): unknown;
  decode(from: Pointer, ...type: unknown[]): unknown;
}

/** The types as C and koffi name them. */
const C_TYPES: Readonly<Record<Signature["result"], string>> = {
  pointer: "void*",
  buffer: "void*",
  usize: "size_t",
  i32: "int32_t",
  u32: "uint32_t",
  void: "void",
};

function inC({ parameters, result }: Signature): [string, string[]] {
  return [C_TYPES[result], parameters.map((it) => C_TYPES[it])];
}

/**
 * Libraries that were opened: koffi closes one that is collected, also where
 * functions found through its pointers are in use.
 */
const opened: unknown[] = [];

function byKoffi(koffi: Koffi): Native {
  return {
    open(path, symbols) {
      const library = koffi.load(path);
      opened.push(library);
      const find = (name: string) => {
        try {
          return library.func(name, ...inC(symbols[name]));
        } catch {
          return null;
        }
      };
      return Object.fromEntries(
        Object.keys(symbols).map((name) => [name, find(name)]),
      );
    },
    functionAt(table, place, type) {
      const pointer = koffi.decode(table, POINTER_BYTES * place, "void*");
      return koffi.decode(
        pointer as Pointer,
        koffi.proto(...inC(type)),
      ) as AnyFunction;
    },
    text: (pointer) => koffi.decode(pointer, "char", -1) as string,
    pointerIn: ([value]) => value === 0n ? null : value as unknown as Pointer,
  };
}

let found: Native | undefined;

/**
 * Returns the runtime's means to call native code.
 *
 * @throws {Error} If it has none, in one line.
 */
export function native(): Native {
  return found ??= isDeno()
    ? byDeno
    : byKoffi(requirePackage("koffi") as Koffi);
}
