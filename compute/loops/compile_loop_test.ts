import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Node, Value } from "../graph/graph.ts";
import { compileLoop, type Loop } from "./compile_loop.ts";

const ROUNDED: Record<string, (x: number, y: number) => number> = {
  Abs: (x) => Math.abs(x),
  Add: (x, y) => x + y,
  Multiply: (x, y) => x * y,
  Neg: (x) => -x,
  RealDiv: (x, y) => x / y,
  Sqrt: (x) => Math.sqrt(x),
  Square: (x) => x * x,
  SquaredDifference: (x, y) => Math.fround(x - y) * Math.fround(x - y),
  Sub: (x, y) => x - y,
};
const NAMES = Object.keys(ROUNDED);
const UNARY = new Set(["Abs", "Neg", "Sqrt", "Square"]);

const vector = (size: number): Value => ({ shape: [size], dtype: "float32" });
const number = (): Value => ({ shape: [], dtype: "float32" });

interface Step {
  readonly operation: number;
  readonly a: number;
  readonly b: number;
}

/** Two vectors, a scalar and a constant, and operations on what there is. */
function loopOf(size: number, steps: readonly Step[]): Loop {
  const inputs = [vector(size), vector(size)];
  const scalars = [number()];
  const constant = number();
  const known = [...inputs, ...scalars, constant];
  const nodes = steps.map(({ operation, a, b }): Node => {
    const op = NAMES[operation];
    const taken = [known[a % known.length], known[b % known.length]];
    const outputs = [vector(size)];
    known.push(outputs[0]);
    return {
      op,
      inputs: UNARY.has(op) ? taken.slice(0, 1) : taken,
      attributes: {},
      outputs,
    };
  });
  const outputs = nodes.map((node) => node.outputs[0]);
  const constants = new Map([[constant, Math.fround(0.3)]]);
  return { size, inputs, scalars, constants, nodes, outputs };
}

/** The number as a loop writes it: 0 where it is not a normal one. */
const written = (x: number) => Math.abs(x) < 2 ** -126 ? 0 : x;

/** What a loop makes of numbers, in JavaScript. */
function expectedOf(loop: Loop, given: readonly Float32Array[]) {
  const at = new Map<Value, (i: number) => number>();
  loop.inputs.forEach((value, k) => at.set(value, (i) => given[k][i]));
  at.set(loop.scalars[0], () => given[2][0]);
  for (const [value, it] of loop.constants) at.set(value, () => it);
  return loop.nodes.map(({ op, inputs, outputs: [output] }) => {
    const [x, y] = inputs.map((value) => at.get(value)!);
    const made = Float32Array.from(
      { length: loop.size },
      (_, i) => ROUNDED[op](x(i), y?.(i)),
    );
    at.set(output, (i) => made[i]);
    return made.map(written);
  });
}

/** Runs the compiled loop; what lies around its arrays must stay. */
function run(loop: Loop, given: readonly Float32Array[]): Float32Array[] {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const numbers = new Float32Array(memory.buffer).fill(99);
  let start = 1;
  const place = (length: number) => {
    const array = numbers.subarray(start, start + length);
    start += length + 1;
    return array;
  };
  const arrays = given.map((it) => {
    const array = place(it.length);
    array.set(it);
    return array;
  });
  const made = loop.outputs.map(() => place(loop.size));
  const { exports } = new WebAssembly.Instance(
    new WebAssembly.Module(compileLoop(loop)),
    { env: { memory } },
  );
  (exports.run as (...addresses: number[]) => void)(
    loop.size,
    ...[...arrays, ...made].map(({ byteOffset }) => byteOffset),
  );
  let end = 0;
  for (const array of [...arrays, ...made]) {
    assertEquals(numbers[end], 99);
    end += array.length + 1;
  }
  assertEquals(numbers[end], 99);
  return made.map((it) => it.slice());
}

Deno.test("loops of any length compute what the operations do, bit for bit", () => {
  const steps = fc.array(
    fc.record({
      operation: fc.nat(NAMES.length - 1),
      a: fc.nat(),
      b: fc.nat(),
    }),
    { minLength: 1, maxLength: 12 },
  );
  const numbers = (size: number) =>
    fc.float32Array({ minLength: size, maxLength: size });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 70 }).chain((size) =>
        fc.tuple(steps, numbers(size), numbers(size), numbers(1))
      ),
      ([steps, ...given]) => {
        const loop = loopOf(given[0].length, steps);
        // As lists: there are several NaN, which are told apart in arrays.
        const lists = (arrays: Float32Array[]) => arrays.map((it) => [...it]);
        assertEquals(lists(run(loop, given)), lists(expectedOf(loop, given)));
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("a loop writes subnormal numbers as 0, and all others as they are", () => {
  const normal = 2 ** -126, below = Math.fround(normal * (1 - 2 ** -23));
  const numbers = [below, -below, 2 ** -149, normal, -normal, 0, -0, NaN, 1];
  const loop = loopOf(numbers.length, [{
    operation: NAMES.indexOf("Neg"),
    a: 0,
    b: 0,
  }]);
  const given = [numbers, numbers, [1]].map((it) => Float32Array.from(it));
  const [made] = run(loop, given);
  const expected = [0, 0, 0, -normal, normal, 0, 0, NaN, -1];
  assertEquals([...made], expected);
});
