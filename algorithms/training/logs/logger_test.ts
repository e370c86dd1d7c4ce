import { assertEquals } from "@std/assert";
import { formatNumber, tableLines } from "./logger.ts";

Deno.test("numbers are short and lose no whole digits", () => {
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
      -0,
    ].map(formatNumber),
    [
      "123457",
      "0.0001235",
      "1.500e-9",
      "-1.235e+7",
      "-",
      "-infinity",
      "-0.25",
      "100",
      "0",
    ],
  );
});

const ROW = {
  "time/steps": 1000,
  "time/updates": 12,
  "time/seconds": 1.5,
  "rollout/return_mean": NaN,
  "rollout/length_mean": 20,
  "train/loss": 0.5,
  "train/entropy": 0.25,
  "train/learning_rate": 0.001,
};

Deno.test("lines stand side by side where there is room, groups begin together", () => {
  assertEquals(tableLines(ROW, { columns: 79, rows: 20 }), [
    "time                      rollout                   train",
    "  updates           12      return_mean        -      loss             0.5",
    "  seconds          1.5      length_mean       20      entropy         0.25",
    "                                                      learning_rate  0.001",
  ]);
  assertEquals(tableLines(ROW, { columns: 30, rows: 20 }).length, 10);
  // The name of the third group would end the first part.
  const { "rollout/length_mean": _, ...less } = ROW;
  assertEquals(tableLines(less, { columns: 60, rows: 20 }), [
    "time                      train",
    "  updates           12      loss             0.5",
    "  seconds          1.5      entropy         0.25",
    "rollout                     learning_rate  0.001",
    "  return_mean        -",
  ]);
});

Deno.test("lines that do not fit are left out", () => {
  assertEquals(tableLines(ROW, { columns: 30, rows: 3 }), [
    "time",
    "  updates           12",
    "  ...",
  ]);
  assertEquals(tableLines(ROW, { columns: 5, rows: 2 }), ["time", "  ..."]);
  assertEquals(tableLines(ROW, { columns: 30, rows: -1 }), []);
});
