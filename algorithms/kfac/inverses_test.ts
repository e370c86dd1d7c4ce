import { inverseSpd } from "@bellman/linear-algebra";
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
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

Deno.test("eigenvectors are those of the factors, and moments the products of eigenvalues", () => {
  fc.assert(
    fc.property(
      numbers,
      fc.constantFrom(0, 1),
      (numbers, damping) => {
        const factors = {
          input: positive(numbers, 3),
          output: positive(numbers, 2),
        };
        const options = { form: "eigenbasis", damping } as const;
        const made = invertFactors(factors, options);
        const added = factoredDamping(factors, damping);
        /** Computes u'F u, for an eigenvector u. */
        const valueOf = (
          basis: ArrayLike<number>,
          factor: Float32Array,
          at: number,
        ) => {
          const size = Math.sqrt(factor.length);
          let sum = 0;
          for (let i = 0; i < size; i++) {
            for (let j = 0; j < size; j++) {
              sum += basis[size * i + at] * factor[size * i + j] *
                basis[size * j + at];
            }
          }
          return sum;
        };
        for (let i = 0; i < 3; i++) {
          const e = valueOf(made.basis_input.data, factors.input, i);
          for (let j = 0; j < 2; j++) {
            const f = valueOf(made.basis_output.data, factors.output, j);
            const wanted = (e + added.input) * (f + added.output);
            const found = made.moments.data[2 * i + j];
            assertAlmostEquals(found, wanted, 1e-3 * Math.abs(wanted) + 1e-3);
          }
        }
      },
    ),
    { seed: 1 },
  );
});

Deno.test("moments and inverses in single precision are those in double, rounded", () => {
  fc.assert(
    fc.property(numbers, (numbers) => {
      const factors = {
        input: positive(numbers, 3),
        output: positive(numbers, 2),
      };
      const [single, double] = (["single", "double"] as const).map(
        (precision) => ({
          ...invertFactors(factors, {
            form: "eigenbasis",
            damping: 0,
            precision,
          }),
          ...invertFactors(factors, {
            form: "inverse",
            damping: 10,
            precision,
          }),
        }),
      );
      for (const slot of ["moments", "inverse_input", "inverse_output"]) {
        const wanted = double[slot].data, made = single[slot].data;
        const largest = Math.max(...wanted.map(Math.abs));
        wanted.forEach((it, i) =>
          assertAlmostEquals(made[i], it, 1e-4 * largest)
        );
      }
    }),
    { seed: 1 },
  );
});

Deno.test("damping is split by mean eigenvalues", () => {
  const numbers = fc.float({ min: Math.fround(0.01), max: 100, noNaN: true });
  fc.assert(
    fc.property(numbers, numbers, numbers, (a, g, damping) => {
      const made = factoredDamping({
        input: Float32Array.of(a, 0, 0, a),
        output: Float32Array.of(g),
      }, damping);
      assertAlmostEquals(made.input * made.output, damping, 1e-6 * damping);
      assertAlmostEquals(made.input / made.output, a / g, 1e-5 * a / g);
    }),
    { seed: 1 },
  );
  const one = Float32Array.of(1), none = Float32Array.of(0);
  const split = factoredDamping({ input: one, output: none }, 4);
  assertEquals(split, { input: 2, output: 2 });
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
