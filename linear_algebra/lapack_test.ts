import { assert, assertEquals, assertThrows } from "@std/assert";
import { inverseSpd } from "./cholesky.ts";
import { Lapack, lapackPath, useLapack } from "./lapack.ts";
import { symmetricEigen } from "./symmetric_eigen.ts";
import {
  largestDifference,
  matrixOf,
  randomPositive,
} from "./testdata/matrices.ts";
import { numpyOpenBlas } from "./testdata/openblas.ts";

const library = numpyOpenBlas() ?? null;
const withLibrary = { ignore: library === null };

// All that the kernels are tested for holds with a library, too.
if (library !== null) {
  useLapack(library);
  await import("./symmetric_eigen_test.ts");
  await import("./cholesky_test.ts");
  await import("./leading_eigen_test.ts");
}

/** Computes with the kernels. */
function withKernels<T>(compute: () => T): T {
  useLapack(null);
  try {
    return compute();
  } finally {
    useLapack(library);
  }
}

for (const precision of ["double", "single"] as const) {
  Deno.test(
    `a library's results are the kernels' to rounding: ${precision} [NumPy]`,
    withLibrary,
    () => {
      for (const size of [1, 2, 5, 65, 129]) {
        const repeated = matrixOf(size, (i, j) => i === j ? 2 : (i + j) % 2);
        const options = { precision, shift: size };
        for (const matrix of [randomPositive(size, size), repeated]) {
          const compute = () => [
            symmetricEigen(matrix, options).values,
            inverseSpd(matrix, options),
          ];
          const wanted = withKernels(compute);
          compute().forEach((found, i) => {
            const gap = largestDifference(found, wanted[i]);
            const relative = gap / largestDifference(wanted[i]);
            const epsilon = precision === "double" ? 2 ** -52 : 2 ** -23;
            assert(relative <= (16 + size) * epsilon, `off by ${relative}`);
          });
        }
      }
    },
  );
}

Deno.test(
  "the kernels compute where a library does not converge [NumPy]",
  withLibrary,
  () => {
    const matrix = randomPositive(3, 40);
    const expected = withKernels(() => symmetricEigen(matrix));
    const { eigen } = Lapack.prototype;
    Lapack.prototype.eigen = (_, { numbers }) => {
      numbers.fill(NaN);
      return null;
    };
    try {
      assertEquals(symmetricEigen(matrix), expected);
    } finally {
      Lapack.prototype.eigen = eigen;
    }
  },
);

Deno.test("a library that cannot be used is one line, and changes nothing", () => {
  const reasonOf = (path: string) => {
    const { message } = assertThrows(() => useLapack(path), Error);
    assertEquals(lapackPath(), library);
    const [, reason] = message.split(`Cannot use LAPACK of '${path}': `);
    assert(!reason.includes("\n"), message);
    return reason;
  };
  assert(reasonOf("/none/libopenblas.so").includes("No such file"));
  reasonOf(new URL("lapack.ts", import.meta.url).pathname);
  if (Deno.build.os !== "linux") return;
  assertEquals(reasonOf("libc.so.6"), "it has no routines such as dsyevd_");
});

Deno.test("without the permission a library is refused in one line", {
  permissions: { ffi: false },
}, () => {
  assertThrows(
    () => useLapack("libopenblas.so.0"),
    Deno.errors.NotCapable,
    "Cannot use LAPACK of 'libopenblas.so.0': Requires ffi access",
  );
});
