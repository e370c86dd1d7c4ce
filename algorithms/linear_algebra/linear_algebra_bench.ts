/** Eigenvalues, Cholesky factors and inverses at three sizes. */
import { cholesky, inverseSpd, symmetricEigen } from "./mod.ts";
import { randomPositive } from "./testdata/matrices.ts";

for (const size of [64, 128, 512]) {
  const matrix = randomPositive(size, size, { shift: 1 });
  Deno.bench(`symmetricEigen, size ${size}`, () => {
    symmetricEigen(matrix);
  });
  Deno.bench(`cholesky, size ${size}`, () => {
    cholesky(matrix);
  });
  Deno.bench(`inverseSpd, size ${size}`, () => {
    inverseSpd(matrix);
  });
  Deno.bench(`inverseSpd in single precision, size ${size}`, () => {
    inverseSpd(matrix, { precision: "single" });
  });
}
