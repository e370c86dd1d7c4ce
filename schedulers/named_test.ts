import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { middleDrop } from "./baselines.ts";
import { cosine } from "./cosine.ts";
import { schedule, type ScheduleName, scheduleNames } from "./named.ts";

Deno.test("schedule finds each name", () => {
  assertStrictEquals(schedule("middle_drop"), middleDrop);
  assertStrictEquals(schedule("cosine"), cosine);
  assertEquals(scheduleNames.length, 7);
  for (const name of scheduleNames) assertEquals(schedule(name)(0), 1);
});

Deno.test("schedule proposes the nearest name", () => {
  assertThrows(
    () => schedule("double_linear" as ScheduleName),
    RangeError,
    "Unknown schedule 'double_linear': did you mean 'double_linear_con'?",
  );
  assertThrows(() => schedule("toString" as ScheduleName), RangeError);
});
