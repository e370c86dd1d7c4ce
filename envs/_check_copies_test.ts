import { assertThrows } from "@std/assert";
import { checkCopies, checkSnapshotCopies } from "./_check_copies.ts";

Deno.test("a whole number of at least one copy can be made", () => {
  checkCopies("CartPole-v1", 1);
  checkCopies("CartPole-v1", 64);
  for (const numEnvs of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(
      () => checkCopies("CartPole-v1", numEnvs),
      RangeError,
      `Cannot make ${numEnvs} copies of CartPole-v1: expected a whole number of at least 1`,
    );
  }
});

Deno.test("a snapshot of other copies is refused with both numbers", () => {
  checkSnapshotCopies(3, 3);
  assertThrows(
    () => checkSnapshotCopies(3, 2),
    RangeError,
    "Cannot restore 3 copies from a snapshot of 2",
  );
});
