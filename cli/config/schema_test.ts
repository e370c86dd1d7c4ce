import { assertEquals } from "@std/assert";
import {
  aliasesOf,
  type ConfigSchema,
  describeProperty,
  findKey,
  isLikelyTypo,
  nearest,
  nearestKey,
} from "./schema.ts";

const schema: ConfigSchema = {
  properties: {
    numSteps: { type: "integer", minimum: 1, alias: "nsteps, n_steps" },
    gamma: { type: "number", minimum: 0, maximum: 1 },
  },
};

Deno.test("a key is found by its name and by each alias", () => {
  assertEquals(aliasesOf(schema.properties.numSteps), ["nsteps", "n_steps"]);
  for (const name of ["numSteps", "nsteps", "n_steps"]) {
    assertEquals(findKey(schema, name), "numSteps");
  }
  assertEquals(findKey(schema, "toString"), undefined);
});

Deno.test("the nearest key looks at aliases and ignores case", () => {
  assertEquals(nearestKey(schema, "n_stps"), "n_steps");
  assertEquals(nearestKey(schema, "GAMA"), "gamma");
  assertEquals(
    nearest("cartpole-v1", ["CartPole-v1", "Chain-v0"]),
    "CartPole-v1",
  );
});

Deno.test("a likely typo is near, anything else is not", () => {
  assertEquals(isLikelyTypo("trian", "train"), true);
  assertEquals(isLikelyTypo("bananas", "train"), false);
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
  ];
  for (const [property, words] of cases) {
    assertEquals(describeProperty(property), words);
  }
});
