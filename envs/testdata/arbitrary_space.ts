import type { Space } from "@bellman/types";
import fc from "fast-check";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "../spaces/constructors.ts";

const count = fc.integer({ min: 1, max: 4 });

const bounded = fc.tuple(
  fc.array(count, { maxLength: 2 }),
  fc.constantFrom("float32", "float64", "int32", "uint8"),
).map(([shape, dtype]) =>
  box({ low: dtype === "uint8" ? 0 : -3, high: 7, shape, dtype })
);

const oneSided = fc.constantFrom(
  box({ low: 2, shape: [3] }),
  box({ high: -1, shape: [2] }),
  box({ shape: [2, 2] }),
  box({ low: [-1, 0], high: [1, Infinity] }),
  // Bounds that float32 has not.
  box({ low: 0.7, high: 0.8, shape: [2], dtype: "float64" }),
  box({ low: -0.7, high: -0.1, shape: [2] }),
  box({ high: -0.7, shape: [1] }),
);

/** Spaces of one array. */
export const leafSpace: fc.Arbitrary<Space> = fc.oneof(
  fc.tuple(count, fc.integer({ min: -3, max: 3 }))
    .map(([n, start]) => discrete(n, { start })),
  bounded,
  oneSided,
  fc.array(count, { minLength: 1, maxLength: 3 }).map(multiDiscrete),
  count.map(multiBinary),
);

/** Any space, nested up to two levels. */
export const anySpace: fc.Arbitrary<Space> = fc.letrec<{ space: Space }>(
  (tie) => ({
    space: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      leafSpace,
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("space"), {
        minKeys: 1,
      }).map(dict),
      fc.array(tie("space"), { minLength: 1, maxLength: 3 }).map(tuple),
    ),
  }),
).space;
