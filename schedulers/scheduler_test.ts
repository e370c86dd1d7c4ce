import {
  assertAlmostEquals,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { cosine, linear, linearDecay, middleDrop } from "./schedules.ts";
import {
  schedule,
  type ScheduleName,
  scheduleNames,
  Scheduler,
} from "./scheduler.ts";
import fixture from "../tests/reference/schedules.json" with { type: "json" };

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

for (const { inputs, expected } of fixture.scheduler) {
  const { v, nvalues, steps } = inputs;
  Deno.test(`Scheduler as the original: ${inputs.schedule}, ${nvalues} values`, () => {
    const scheduler = new Scheduler({
      value: v,
      numValues: nvalues,
      schedule: inputs.schedule === "linear"
        ? linearDecay(1, 0, 1)
        : schedule(inputs.schedule as ScheduleName),
    });
    steps.forEach((it, i) =>
      assertAlmostEquals(scheduler.valueAt(it), expected.value_steps[i], 1e-12)
    );
    // Asking for a step leaves the count alone.
    for (const value of expected.first_12_value_calls) {
      assertAlmostEquals(scheduler.value(), value, 1e-12);
    }
    assertEquals(scheduler.steps, 12);
  });
}

const options = { value: 10, numValues: 5, schedule: linear };

Deno.test("Scheduler goes on where it was saved", () => {
  const first = new Scheduler(options);
  first.value();
  first.value();
  const state = first.save();
  first.value();
  assertEquals(state, { steps: 2 });
  const second = new Scheduler(options);
  second.load(state);
  assertEquals(second.value(), 6);
  assertEquals(second.value(), first.value());
});

Deno.test("Scheduler loads counts alone", () => {
  const scheduler = new Scheduler(options);
  for (const steps of [-1, 0.5, NaN, "2" as unknown as number]) {
    assertThrows(
      () => scheduler.load({ steps }),
      TypeError,
      `Cannot continue a schedule at step ${steps}`,
    );
  }
  assertThrows(() => scheduler.load(null!), TypeError, "at step undefined");
});

Deno.test("Scheduler needs values", () => {
  assertThrows(
    () => new Scheduler({ ...options, numValues: 0 }),
    RangeError,
    "Cannot schedule 0 values: expected a number above 0",
  );
});
