import { assertEquals } from "@std/assert";
import { commandHelp, configHelp, programHelp } from "./help.ts";

const COMMAND = {
  name: "fly",
  usage: "RUN [OPTIONS]",
  summary: "Fly a run.",
  options: [{ name: "height", value: "N", help: "Metres above ground." }],
  details: () => "Have a good flight.\n",
  run: () => Promise.resolve(0),
};

Deno.test("the help of a command lists its options in columns", () => {
  assertEquals(
    commandHelp(COMMAND),
    `Fly a run.

Usage: bellman fly RUN [OPTIONS]

Options:
  --height N  Metres above ground.
  --help      Show this help; also -h.
  --debug     Show where an error came from.

Have a good flight.
`,
  );
});

Deno.test("the help of the program lists its commands", () => {
  assertEquals(programHelp([COMMAND]).includes("  fly  Fly a run.\n"), true);
});

Deno.test("the help of a configuration tells names, values and defaults", () => {
  const schema = {
    properties: {
      gamma: {
        type: "number",
        minimum: 0,
        maximum: 1,
        default: 0.99,
        description: "Discount of a step.",
        alias: "discount",
      },
    },
  };
  assertEquals(
    configHelp("Keys:", schema),
    `Keys:
  gamma (also discount)
      Discount of a step.
      a number from 0 to 1; default 0.99
`,
  );
});
