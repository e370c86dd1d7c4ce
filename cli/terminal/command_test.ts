import { assertEquals, assertThrows } from "@std/assert";
import {
  commandHelp,
  integerOf,
  type OptionSpec,
  parseOptions,
  programHelp,
  valueOf,
} from "./command.ts";
import { UsageError } from "@bellman/runs/program";

const SPECS: OptionSpec[] = [
  { name: "env", value: "ID", help: "" },
  { name: "set", value: "KEY=VALUE", repeat: true, help: "" },
  { name: "episodes", value: "N", help: "" },
  { name: "quiet", help: "" },
];

Deno.test("options, switches and positionals are told apart", () => {
  const options = parseOptions(
    ["a2c", "--env", "X-v0", "--set", "a=1", "--set=b=2", "--quiet", "more"],
    SPECS,
  );
  assertEquals(options.positionals, ["a2c", "more"]);
  assertEquals(valueOf(options, "env"), "X-v0");
  assertEquals(options.values.get("set"), ["a=1", "b=2"]);
  assertEquals([...options.switches], ["quiet"]);
});

Deno.test("values stay text: ids that look like numbers, negative numbers", () => {
  const args = ["007", "--episodes", "-3", "--env", "1e3"];
  const options = parseOptions(args, SPECS);
  assertEquals(options.positionals, ["007"]);
  assertEquals(valueOf(options, "env"), "1e3");
  assertThrows(
    () => integerOf(options, "episodes", { minimum: 1, fallback: 1 }),
    UsageError,
    "Cannot use --episodes -3: expected an integer of at least 1",
  );
});

Deno.test("an integer may have a most, and no fallback", () => {
  const range = { minimum: 1, maximum: 9, fallback: undefined };
  const read = (...args: string[]) =>
    integerOf(parseOptions(args, SPECS), "episodes", range);
  assertEquals([read(), read("--episodes=9")], [undefined, 9]);
  assertThrows(
    () => read("--episodes=10"),
    UsageError,
    "Cannot use --episodes 10: expected an integer from 1 to 9",
  );
});

const COMMAND = {
  name: "fly",
  usage: "RUN [OPTIONS]",
  summary: "Fly a run.",
  options: [{ name: "height", value: "N", help: "Metres above ground." }],
  details: () => "Have a good flight.\n",
  run: () => Promise.resolve(0),
};

Deno.test("the help of a command lists its options in columns", async () => {
  assertEquals(
    await commandHelp(COMMAND, parseOptions([], COMMAND.options)),
    `Fly a run.

Usage: bellman fly RUN [OPTIONS]

Options:
  --height N  Metres above ground.
  --help      Show this help; also -h.
  --debug     Show the stack trace of an error.

Have a good flight.
`,
  );
});

Deno.test("the help of the program lists its commands", () => {
  assertEquals(programHelp([COMMAND]).includes("  fly  Fly a run.\n"), true);
});
