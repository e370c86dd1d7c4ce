import { assertThrows } from "@std/assert";
import { checkSettings, type SettingsRange } from "./check_settings.ts";

const refused = (value: number, range: SettingsRange, wanted: string) =>
  assertThrows(
    () => checkSettings({ rate: value }, { of: "A2C", ...range }),
    RangeError,
    `Cannot run A2C with rate = ${value}: expected a ${wanted}`,
  );

Deno.test("settings lie in their range, its ends included", () => {
  const of = "A2C";
  checkSettings({ a: 0, b: 1, c: 0.5 }, { of, minimum: 0, maximum: 1 });
  checkSettings({ a: 1, b: 7 }, { of, minimum: 1, whole: true });
  checkSettings({ a: 1e-9 }, { of, minimum: 0, aboveMinimum: true });
});

Deno.test("others are refused with what was expected", () => {
  refused(-1, { minimum: 0 }, "number of at least 0");
  refused(1.5, { minimum: 1, whole: true }, "whole number of at least 1");
  refused(2, { minimum: 0, maximum: 1 }, "number from 0 to 1");
  refused(0, { minimum: 0, aboveMinimum: true }, "number above 0");
  refused(
    0,
    { minimum: 0, maximum: 1, aboveMinimum: true },
    "number above 0 and at most 1",
  );
  refused(NaN, { minimum: 0 }, "number of at least 0");
});
