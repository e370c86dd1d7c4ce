import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  aliasesOf,
  checkSettings,
  type ConfigSchema,
  defaultsOf,
  describeProperty,
  findKey,
  type PropertySchema,
} from "./schema.ts";

function check(rate: unknown, property: PropertySchema): void {
  checkSettings({ rate }, {
    of: "A2C",
    schema: { properties: { rate: property } },
  });
}

function refused(
  rate: unknown,
  property: PropertySchema,
  { wanted, Fault = RangeError }: {
    wanted: string;
    Fault?: typeof RangeError | typeof TypeError;
  },
): void {
  const error = assertThrows(
    () => check(rate, property),
    Fault,
    `Cannot run A2C with rate = ${wanted}`,
  );
  assert(!error.message.includes("\n"));
}

const number = { type: "number" }, whole = { type: "integer" };
const orNone = { type: ["number", "null"], minimum: 1 };
const sizes = { type: "array", items: { ...whole, minimum: 1 }, maxItems: 3 };
const goals: PropertySchema = {
  anyOf: [
    {
      type: "object",
      properties: {
        kind: { type: "string", enum: ["near", "far"] },
        k: { ...number, minimum: 0 },
      },
      additionalProperties: false,
    },
    { type: "null" },
  ],
};
const names: PropertySchema = {
  type: "object",
  additionalProperties: { anyOf: [{ enum: ["mlp"] }, { const: "flat" }] },
};
const schema: ConfigSchema = {
  properties: {
    numSteps: { ...whole, minimum: 1, alias: "nsteps, n_steps" },
    gamma: { ...number, minimum: 0, maximum: 1 },
  },
};

Deno.test("settings that fit pass", () => {
  for (const rate of [0, 0.5, 1]) check(rate, schema.properties.gamma);
  check(7, { ...whole, minimum: 1 });
  check(1e-9, { ...number, exclusiveMinimum: 0 });
  for (const rate of [null, 1]) check(rate, orNone);
  for (const rate of [[], [1, 2]]) check(rate, sizes);
  check(-1, { ...whole, minimum: -1 });
  check(undefined, whole);
  for (const rate of [null, {}, { kind: "far", k: 2 }]) check(rate, goals);
  for (const rate of [{}, { a: "mlp", b: "flat" }]) check(rate, names);
  check([-2, 2], {
    anyOf: [{ type: "array", items: number }, { type: "null" }],
    minItems: 2,
    maxItems: 2,
  });
});

Deno.test("others are refused with what was expected", () => {
  const one = { ...number, minimum: 0, maximum: 1 };
  refused(2, one, { wanted: "2: expected a number from 0 to 1" });
  refused(NaN, one, { wanted: "NaN: expected a number from 0 to 1" });
  refused(Infinity, number, { wanted: "Infinity: expected a number" });
  refused(1.5, whole, { wanted: "1.5: expected an integer" });
  refused(0, { ...whole, minimum: -1 }, {
    wanted: "0: expected -1 or an integer of at least 1",
  });
  refused(1.5, { ...orNone, multipleOf: 1 }, {
    wanted: "1.5: expected an integer of at least 1 or null",
  });
  refused(0, { type: ["number", "null"], multipleOf: 1, minimum: -1 }, {
    wanted: "0: expected -1 or an integer of at least 1 or null",
  });
  refused([0], {
    anyOf: [{ type: "array", items: number }, { type: "null" }],
    ...{ items: { ...whole, minimum: 1 }, maxItems: 3 },
  }, {
    wanted:
      "[0]: expected a list of at most 3, each an integer of at least 1 or null",
  });
  refused([2, 0], sizes, {
    wanted:
      "[2,0]: expected a list of at most 3, each an integer of at least 1",
  });
  refused([1, 1, 1, 1], sizes, { wanted: "[1,1,1,1]: expected a list of at" });
  refused("adm", { type: "string", enum: ["rmsprop", "adam"] }, {
    wanted: "\"adm\": expected rmsprop or adam; did you mean 'adam'?",
  });
  for (const rate of [{ k: -1 }, { kind: "fra" }, { kid: "far" }]) {
    refused(rate, goals, {
      wanted: `${JSON.stringify(rate)}: expected a mapping with kind: near`,
    });
  }
  refused({ a: "cnn" }, names, { wanted: '{"a":"cnn"}: expected a mapping' });
});

Deno.test("what is of another type is a TypeError", () => {
  const Fault = TypeError;
  refused("0.5", number, { wanted: '"0.5": expected a number', Fault });
  refused(true, whole, { wanted: "true: expected an integer", Fault });
  refused(null, number, { wanted: "null: expected a number", Fault });
  refused(64, sizes, {
    wanted:
      "64: expected a list of at most 3, each an integer of at least 1, as in [64, 64]",
    Fault,
  });
  refused("far", goals, { wanted: '"far": expected a mapping', Fault });
  refused(1n, number, { wanted: "1: expected a number", Fault });
  refused(() => 1, number, { wanted: "a function: expected a number", Fault });
  refused("x".repeat(999), number, { wanted: `"${"x".repeat(76)}...`, Fault });
});

Deno.test("an unknown setting is told with the nearest one", () => {
  const cases: Record<string, string> = {
    n_steps: "did you mean 'numSteps'?",
    gama: "did you mean 'gamma'?",
    toString: "expected one of numSteps, gamma",
  };
  for (const [name, hint] of Object.entries(cases)) {
    assertThrows(
      () => checkSettings({ [name]: 1 }, { of: "A2C", schema }),
      TypeError,
      `Unknown setting '${name}' of A2C: ${hint}`,
    );
  }
});

Deno.test("settings of earlier versions are taken with their default alone", () => {
  const former = { critics: { const: "two", description: "it is gone" } };
  const options = { of: "SAC", schema: { properties: {}, former } };
  checkSettings({ critics: "two" }, options);
  assertThrows(
    () => checkSettings({ critics: "one" }, options),
    TypeError,
    'Cannot run SAC with critics = "one": it is gone',
  );
});

Deno.test("a key is found by its name and by each alias", () => {
  assertEquals(aliasesOf(schema.properties.numSteps), ["nsteps", "n_steps"]);
  for (const name of ["numSteps", "nsteps", "n_steps"]) {
    assertEquals(findKey(schema, name), "numSteps");
  }
  assertEquals(findKey(schema, "toString"), undefined);
});

Deno.test("a property says in words what it accepts", () => {
  const cases: [Parameters<typeof describeProperty>[0], string][] = [
    [{ type: "integer", minimum: 1 }, "an integer of at least 1"],
    [{ type: "number", minimum: 0, maximum: 1 }, "a number from 0 to 1"],
    [
      { type: "number", exclusiveMinimum: 0, maximum: 1 },
      "a number above 0 and at most 1",
    ],
    [
      { type: ["number", "null"], exclusiveMinimum: 0 },
      "a number above 0 or null",
    ],
    [{ type: "string", enum: ["a", "b", "c"] }, "a, b or c"],
    [{ type: "string", const: "a2c" }, "a2c"],
    [
      { type: "array", items: { type: "integer", minimum: 1 } },
      "a list, each an integer of at least 1",
    ],
    [{ type: "boolean" }, "true or false"],
    [
      {
        anyOf: [
          {
            type: "object",
            properties: {
              kind: { type: "string", enum: ["a", "b"] },
              k: { type: "number", minimum: 0 },
            },
          },
          { type: "null" },
        ],
      },
      "a mapping with kind: a or b; k: a number of at least 0; or null",
    ],
  ];
  for (const [property, words] of cases) {
    assertEquals(describeProperty(property), words);
  }
});

Deno.test("defaults are the schema's, and belong to the caller", () => {
  const schema = { properties: { sizes: { default: [64, 64] } } };
  const first = defaultsOf<{ sizes: number[] }>(schema);
  first.sizes.push(1);
  assertEquals(defaultsOf(schema), { sizes: [64, 64] });
});
