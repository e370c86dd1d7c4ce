import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../usage_error.ts";
import type { ConfigSchema } from "./schema.ts";
import { validateEntries } from "./validate.ts";

const schema: ConfigSchema = {
  properties: {
    numSteps: { type: "integer", minimum: 1, alias: "nsteps" },
    maxGradNorm: { type: ["number", "null"], exclusiveMinimum: 0 },
    optimizer: { type: "string", enum: ["rmsprop", "adam"] },
    hiddenSizes: { type: "array", items: { type: "integer", minimum: 1 } },
  },
};
const options = { schema, origin: "a2c.yaml" };

Deno.test("valid entries come back under the schema's own names", () => {
  const valid = validateEntries([
    ["nsteps", 16],
    ["maxGradNorm", null],
    ["hiddenSizes", [64, 64]],
  ], options);
  assertEquals(valid, {
    numSteps: 16,
    maxGradNorm: null,
    hiddenSizes: [64, 64],
  });
});

Deno.test("each bad entry is one line that names what was expected", () => {
  const cases: [string, unknown, string][] = [
    [
      "numStep",
      5,
      "Unknown key 'numStep' in a2c.yaml: did you mean 'numSteps'?",
    ],
    [
      "nsteps",
      0,
      "Cannot use nsteps = 0 of a2c.yaml: expected an integer of at least 1",
    ],
    [
      "numSteps",
      2.5,
      "Cannot use numSteps = 2.5 of a2c.yaml: expected an integer of at least 1",
    ],
    [
      "maxGradNorm",
      NaN,
      "Cannot use maxGradNorm = NaN of a2c.yaml: expected a number above 0 or null",
    ],
    [
      "maxGradNorm",
      Infinity,
      "Cannot use maxGradNorm = Infinity of a2c.yaml: expected a number above 0 or null",
    ],
    [
      "optimizer",
      "adm",
      "Cannot use optimizer = \"adm\" of a2c.yaml: expected rmsprop or adam; did you mean 'adam'?",
    ],
    [
      "hiddenSizes",
      [64, -1],
      "Cannot use hiddenSizes = [64,-1] of a2c.yaml: expected a list, each an integer of at least 1",
    ],
  ];
  for (const [key, value, message] of cases) {
    const error = assertThrows(
      () => validateEntries([[key, value]], options),
      UsageError,
    );
    assertEquals(error.message, message);
  }
});

Deno.test("a key under two of its names is refused", () => {
  assertThrows(
    () => validateEntries([["numSteps", 5], ["nsteps", 6]], options),
    UsageError,
    "Cannot use both 'numSteps' and 'nsteps' in a2c.yaml",
  );
});
