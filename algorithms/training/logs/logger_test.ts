import { assertEquals } from "@std/assert";
import { TableLogger } from "./logger.ts";

function table(statistics: Record<string, number>): string[] {
  let text = "";
  new TableLogger({ write: (more) => text += more })
    .write({ step: 1, statistics });
  return text.split("\n");
}

Deno.test("a row is a box of aligned lines", () => {
  assertEquals(
    table({ nupdates: 1, total_timesteps: 1234567, policy_entropy: 0.693147 }),
    [
      "------------------------------",
      "| nupdates        |         1 |",
      "| total_timesteps | 1,234,567 |",
      "| policy_entropy  |    0.6931 |",
      "------------------------------",
      "",
    ].map((line) => line.startsWith("-") ? "-".repeat(31) : line),
  );
});

Deno.test("numbers are short and lose no whole digits", () => {
  const shown = (value: number) => table({ x: value })[1].slice(6, -2).trim();
  assertEquals(
    [
      123456.789,
      0.000123456,
      1.5e-9,
      -12345678.9,
      NaN,
      -Infinity,
      -0.25,
      100.04,
    ].map(shown),
    [
      "123457",
      "0.0001235",
      "1.500e-9",
      "-1.235e+7",
      "nan",
      "-infinity",
      "-0.25",
      "100",
    ],
  );
});
