import { assertEquals, assertThrows } from "@std/assert";
import { checkRanges, defaultsOf, type PropertySchema } from "./schema.ts";

function check(rate: unknown, property: PropertySchema): void {
  checkRanges({ rate }, {
    of: "A2C",
    schema: { properties: { rate: property } },
  });
}

function refused(
  rate: unknown,
  property: PropertySchema,
  wanted: string,
): void {
  assertThrows(
    () => check(rate, property),
    RangeError,
    `Cannot run A2C with ${wanted}`,
  );
}

const whole = { type: "integer" };

Deno.test("settings lie in their range, its ends included", () => {
  for (const rate of [0, 0.5, 1]) check(rate, { minimum: 0, maximum: 1 });
  check(7, { ...whole, minimum: 1 });
  check(1e-9, { exclusiveMinimum: 0 });
  check(null, { type: ["number", "null"], minimum: 1 });
  check([1, 2], { items: { ...whole, minimum: 1 } });
  check(-1, { ...whole, minimum: -1 });
});

Deno.test("others are refused with what was expected", () => {
  refused(-1, { minimum: 0 }, "rate = -1: expected a number of at least 0");
  refused(
    1.5,
    { ...whole, minimum: 1 },
    "rate = 1.5: expected a whole number of at least 1",
  );
  refused(
    1.5,
    { type: ["number", "null"], multipleOf: 1, minimum: 1 },
    "rate = 1.5: expected a whole number of at least 1",
  );
  refused(
    2,
    { minimum: 0, maximum: 1 },
    "rate = 2: expected a number from 0 to 1",
  );
  refused(0, { exclusiveMinimum: 0 }, "rate = 0: expected a number above 0");
  refused(
    0,
    { exclusiveMinimum: 0, maximum: 1 },
    "rate = 0: expected a number above 0 and at most 1",
  );
  refused(NaN, { minimum: 0 }, "rate = NaN: expected a number of at least 0");
  refused(
    [2, 0],
    { items: { ...whole, minimum: 1 } },
    "rate[1] = 0: expected a whole",
  );
});

Deno.test("bounds against overflow are named where they are broken", () => {
  const size = { ...whole, minimum: 1, maximum: 1e8 };
  refused(0, size, "rate = 0: expected a whole number of at least 1");
  refused(
    1e9,
    size,
    "rate = 1000000000: expected a whole number from 1 to 100000000",
  );
});

Deno.test("a count of -1 stands for a rule, 0 for none", () => {
  refused(
    0,
    { ...whole, minimum: -1 },
    "rate = 0: expected a whole number of at least 1",
  );
});

Deno.test("defaults are the schema's, and belong to the caller", () => {
  const schema = { properties: { sizes: { default: [64, 64] } } };
  const first = defaultsOf<{ sizes: number[] }>(schema);
  first.sizes.push(1);
  assertEquals(defaultsOf(schema), { sizes: [64, 64] });
});
