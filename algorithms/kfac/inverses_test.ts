import { inverseSpd } from "@bellman/linear-algebra";
import { assertAlmostEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { factoredDamping, invertFactors } from "./inverses.ts";

/** Makes a positive definite matrix of random numbers. */
function positive(numbers: number[], size: number): Float32Array {
  return Float32Array.from({ length: size * size }, (_, at) => {
    const i = Math.floor(at / size), j = at % size;
    let sum = i === j ? 0.1 : 0;
    for (let k = 0; k < size; k++) {
      sum += numbers[i * size + k] * numbers[j * size + k];
    }
    return sum;
  });
}

const numbers = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), {
  minLength: 9,
  maxLength: 9,
});

Deno.test("inverses are of the factors with their damping", () => {
  fc.assert(
    fc.property(numbers, fc.constantFrom(0.01, 1), (numbers, damping) => {
      const factors = {
        input: positive(numbers, 3),
        output: positive(numbers, 2),
      };
      const added = factoredDamping(factors, damping);
      assertAlmostEquals(added.input * added.output, damping, 1e-9);
      const made = invertFactors(factors, { form: "inverse", damping });
      const wanted = Float64Array.from(factors.input);
      for (let i = 0; i < 3; i++) wanted[4 * i] += added.input;
      inverseSpd(wanted).forEach((it, i) =>
        assertAlmostEquals(
          made.inverse_input.data[i],
          it,
          1e-3 * Math.abs(it) + 1e-5,
        )
      );
    }),
    { seed: 1 },
  );
});

Deno.test("eigenvectors and eigenvalues are those of the factors, and moments start as their product", () => {
  fc.assert(
    fc.property(numbers, (numbers) => {
      const factors = {
        input: positive(numbers, 3),
        output: positive(numbers, 2),
      };
      const options = { form: "eigenbasis", damping: 1 } as const;
      const { basis_input, values_input, values_output } = invertFactors(
        factors,
        options,
      );
      const U = basis_input.data, values = values_input.data;
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 3; j++) {
          let sum = 0;
          for (let k = 0; k < 3; k++) {
            sum += U[3 * i + k] * values[k] * U[3 * j + k];
          }
          assertAlmostEquals(sum, factors.input[3 * i + j], 1e-4);
        }
      }
      const { moments } = invertFactors(factors, { ...options, form: "ekfac" });
      assertAlmostEquals(
        moments.data[5],
        values[2] * values_output.data[1],
        1e-3,
      );
    }),
    { seed: 1 },
  );
});

Deno.test("a factor of 0 is damped alone, and one that is not finite is refused", () => {
  const zero = new Float32Array(4), one = Float32Array.of(4);
  const made = invertFactors({ input: zero, output: one }, {
    form: "inverse",
    damping: 0.25,
  });
  assertAlmostEquals(made.inverse_input.data[0], 2);
  assertAlmostEquals(made.inverse_output.data[0], 1 / 4.5, 1e-6);
  for (const form of ["inverse", "eigenbasis"] as const) {
    assertThrows(
      () =>
        invertFactors({ input: Float32Array.of(NaN), output: one }, {
          form,
          damping: 1,
        }),
      RangeError,
      "with NaN in row 0, column 0: expected finite numbers",
    );
  }
});
