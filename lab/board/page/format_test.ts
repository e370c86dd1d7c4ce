import { assertEquals } from "@std/assert";
import {
  bytes,
  count,
  duration,
  NONE,
  number,
  statisticText,
} from "./format.ts";

Deno.test("numbers are short", () => {
  assertEquals([0, 0.00031, 12.3456, 1234.5, 5e-5, 2e12].map(number), [
    ...["0", "0.00031", "12.35", "1,235", "5.00e-5", "2.00e12"],
  ]);
  assertEquals(
    [null, undefined, NaN, Infinity].map(number),
    Array(4).fill(NONE),
  );
  assertEquals([1234567, null].map(count), ["1,234,567", NONE]);
});

Deno.test("durations have two units", () => {
  assertEquals([0, 59.4, 59.6, 3599, 7260, 200_000, -1, null].map(duration), [
    ...["0 s", "59 s", "1:00 min", "59:59 min", "2:01 h", "2 d 7 h"],
    ...[NONE, NONE],
  ]);
});

Deno.test("sizes have three digits", () => {
  assertEquals([0, 999, 1000, 123_456, 5e12, null].map(bytes), [
    ...["0 B", "999 B", "1.00 kB", "123 kB", "5.00 TB", NONE],
  ]);
});

Deno.test("statistics have titles", () => {
  assertEquals(
    ["self_play/elo", "cat/self_play/elo", "train/my_own_loss", "plain"]
      .map(statisticText),
    ["Elo rating", "cat: Elo rating", "My own loss", "Plain"],
  );
});
