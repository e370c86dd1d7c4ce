import { isElementType, type TensorSpec } from "./tensors.ts";

/** An input of a program. */
export interface InputSpec extends TensorSpec {
  /** Index of the output that takes its memory: the input is donated. */
  readonly aliases?: number;
}

/** Inputs and outputs of a program. PJRT itself does not list inputs. */
export interface ProgramSignature {
  /** Inputs, in order. */
  readonly inputs: readonly InputSpec[];
  /** Outputs, in order. */
  readonly outputs: readonly TensorSpec[];
}

const MAIN =
  /func\.func\s+(?:public\s+)?@main\s*\(([^]*?)\)\s*(?:->\s*([^\n]*?))?\s*(?:attributes\s*\{[^\n]*\}\s*)?\{\s*\n/;
const TENSOR = /tensor<((?:\d+x)*)(\w+)>\s*(?:\{([^}]*)\})?/g;

/**
 * Reads the inputs and outputs of `@main` in StableHLO text. An input with the
 * attribute `tf.aliasing_output = i` is donated to output `i`.
 *
 * @param program StableHLO text.
 * @throws {SyntaxError} If it has no `@main` whose tensors typed arrays hold.
 * @example
 * ```ts
 * import { readSignature } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * const { inputs, outputs } = readSignature(`
 *   func.func @main(%a: tensor<2x3xf32>, %b: tensor<i32>) -> tensor<6xf32> {
 *   }
 * `);
 * assertEquals(inputs.map((it) => it.shape), [[2, 3], []]);
 * assertEquals(outputs, [{ dtype: "f32", shape: [6] }]);
 * ```
 */
export function readSignature(program: string): ProgramSignature {
  // Names in attributes may hold any character. A choice for each of them would
  // be remembered, and there may be millions.
  const main = MAIN.exec(
    program.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '""'),
  );
  if (main === null) {
    throw new SyntaxError(
      "Cannot read the program's signature: it has no func.func @main",
    );
  }
  return { inputs: tensorsIn(main[1]), outputs: tensorsIn(main[2] ?? "") };
}

function tensorsIn(text: string): InputSpec[] {
  return Array.from(
    text.matchAll(TENSOR),
    ([whole, dims, dtype, attributes]) => {
      if (!isElementType(dtype)) {
        throw new SyntaxError(
          `Cannot read the program's signature: no typed array holds a ${whole}`,
        );
      }
      const shape = dims.split("x").filter(Boolean).map(Number);
      const alias = /tf\.aliasing_output\s*=\s*(\d+)/.exec(attributes ?? "");
      return alias
        ? { dtype, shape, aliases: Number(alias[1]) }
        : { dtype, shape };
    },
  );
}
