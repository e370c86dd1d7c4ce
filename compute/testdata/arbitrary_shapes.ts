import fc from "fast-check";

/** Shapes of some ranks, with axes that are not empty. */
export function shapes(
  { minRank = 0, maxRank = 4, maxLength = 4 }: {
    minRank?: number;
    maxRank?: number;
    maxLength?: number;
  } = {},
): fc.Arbitrary<number[]> {
  return fc.array(fc.integer({ min: 1, max: maxLength }), {
    minLength: minRank,
    maxLength: maxRank,
  });
}

/** Shapes of no numbers: a length of at least one axis is 0. */
export const emptyShapes: fc.Arbitrary<number[]> = fc
  .tuple(shapes({ minRank: 1 }), fc.nat(3), fc.boolean())
  .map(([shape, axis, twice]) =>
    shape.map((length, i) =>
      i === axis % shape.length || twice && i === 0 ? 0 : length
    )
  );

/** Seeds of random numbers. */
export const seeds: fc.Arbitrary<number> = fc.integer({ min: 1, max: 1 << 20 });

/** Shapes that are broadcast to one: axes of length 1, or fewer axes. */
export function broadcastShapes(
  count: number,
  options: { maxRank?: number; maxLength?: number } = {},
): fc.Arbitrary<number[][]> {
  const narrowing = fc.record({
    drop: fc.nat(4),
    ones: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  });
  return fc.tuple(
    shapes(options),
    fc.array(narrowing, { minLength: count, maxLength: count }),
  ).map(([whole, narrowings]) =>
    narrowings.map(({ drop, ones }) =>
      whole.map((length, axis) => ones[axis] ? 1 : length)
        .slice(Math.min(drop % 3, whole.length))
    )
  );
}

/** Some axes of a rank, each once, counted from either end. */
export function axesOf(rank: number): fc.Arbitrary<number[]> {
  return fc.subarray(Array.from({ length: rank }, (_, axis) => axis))
    .chain((axes) =>
      fc.tuple(...axes.map((axis) => fc.constantFrom(axis, axis - rank)))
    );
}

/** A shape of at least one axis, and one of its axes, from either end. */
export function shapeAndAxis(
  options: { minRank?: number; maxRank?: number; maxLength?: number } = {},
): fc.Arbitrary<{ shape: number[]; axis: number }> {
  return shapes({ minRank: 1, ...options }).chain((shape) =>
    fc.integer({ min: -shape.length, max: shape.length - 1 })
      .map((axis) => ({ shape, axis }))
  );
}

/** The types of tensors. */
export const dtypes: fc.Arbitrary<"float32" | "int32" | "bool"> = fc
  .constantFrom("float32", "int32", "bool");
