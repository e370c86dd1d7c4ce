import type { Node, Value } from "../graph/graph.ts";

/** Operations on single numbers, in JavaScript. */
export const SCALAR_FUNCTIONS: Readonly<
  Record<string, (x: number, y: number) => number>
> = {
  Abs: (x) => Math.abs(x),
  Add: (x, y) => x + y,
  Exp: (x) => Math.exp(x),
  Expm1: (x) => Math.expm1(x),
  Log: (x) => Math.log(x),
  Multiply: (x, y) => x * y,
  Neg: (x) => -x,
  RealDiv: (x, y) => x / y,
  Reshape: (x) => x,
  Sqrt: (x) => Math.sqrt(x),
  Square: (x) => x * x,
  Sub: (x, y) => x - y,
};

/**
 * Makes a program of operations on single numbers.
 *
 * @param nodes Operations, each after those that it takes from.
 * @param arrayOf Returns the array of a value's number; constants have none.
 * @param constantOf The number of a constant.
 */
export function scalarProgram(
  nodes: readonly Node[],
  { arrayOf, constantOf }: {
    arrayOf: (value: Value) => Float32Array;
    constantOf: (value: Value) => number | undefined;
  },
): () => void {
  const read = (value: Value): Float32Array => {
    const number = constantOf(value);
    return number === undefined ? arrayOf(value) : Float32Array.of(number);
  };
  const steps = nodes.map(({ op, inputs, outputs: [output] }) => {
    const compute = SCALAR_FUNCTIONS[op];
    const x = read(inputs[0]), y = read(inputs[1] ?? inputs[0]);
    const to = arrayOf(output);
    return () => {
      to[0] = compute(x[0], y[0]);
    };
  });
  return () => {
    for (let i = 0; i < steps.length; i++) steps[i]();
  };
}
