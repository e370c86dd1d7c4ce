import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Node, Value } from "../graph/graph.ts";
import { SCALAR_FUNCTIONS, scalarProgram } from "./scalar_program.ts";

const value = (): Value => ({ shape: [], dtype: "float32" });

Deno.test("each run computes the operations again, in their order", () => {
  const step = fc.record({
    op: fc.constantFrom(...Object.keys(SCALAR_FUNCTIONS)),
    from: fc.tuple(fc.nat(), fc.nat()),
  });
  fc.assert(fc.property(
    fc.array(step, { minLength: 1, maxLength: 9 }),
    fc.array(fc.float({ noNaN: true }), { minLength: 2, maxLength: 2 }),
    (steps, numbers) => {
      const input = value(), constant = value();
      const arrays = new Map([[input, new Float32Array(1)]]);
      const values = [input, constant];
      const nodes = steps.map(({ op, from }): Node => {
        const [x, y] = from.map((it) => values[it % values.length]);
        const output = value();
        values.push(output);
        return { op, attributes: {}, inputs: [x, y], outputs: [output] };
      });
      const arrayOf = (value: Value) => {
        const array = arrays.get(value) ?? new Float32Array(1);
        arrays.set(value, array);
        return array;
      };
      const constantOf = (value: Value) => value === constant ? 3 : undefined;
      const run = scalarProgram(nodes, { arrayOf, constantOf });
      for (const number of numbers) {
        arrays.get(input)![0] = number;
        run();
        const wanted = new Map([[input, Math.fround(number)], [constant, 3]]);
        for (const { op, inputs: [x, y], outputs: [output] } of nodes) {
          const result = SCALAR_FUNCTIONS[op](wanted.get(x)!, wanted.get(y)!);
          wanted.set(output, Math.fround(result));
          assertEquals(arrayOf(output)[0], wanted.get(output));
        }
      }
    },
  ));
});
