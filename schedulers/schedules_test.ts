import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fixture from "../tests/reference/schedules.json" with { type: "json" };
import {
  clampedLinear,
  constant,
  cosine,
  doubleLinearCon,
  doubleMiddleDrop,
  exponential,
  linear,
  linearDecay,
  middleDrop,
  piecewise,
  scale,
  schedule,
  type ScheduleName,
  scheduleNames,
  Scheduler,
  warmup,
} from "./schedules.ts";
import fc from "fast-check";
import { assertRefused } from "../tests/testdata/refused.ts";

const { p, values } = fixture.fraction_schedules;
for (const [name, expected] of Object.entries(values)) {
  Deno.test(`schedule ${name} has the original's values, beyond 1 too`, () => {
    const multiplier = name === "linear"
      ? linearDecay(1, 0, 1)
      : schedule(name as ScheduleName);
    assertEquals(p.length, expected.length);
    p.forEach((it, i) =>
      assertAlmostEquals(multiplier(it), expected[i], 1e-12)
    );
  });
}

Deno.test("a drop comes after its limit, not at it", () => {
  assertEquals(doubleMiddleDrop(0.25), 0.75);
  assertEquals(doubleMiddleDrop(0.75), 0.75 * 0.1);
  assertEquals(doubleMiddleDrop(0.7500001), 0.125);
  assertEquals(doubleLinearCon(0.4375), 0.125);
});

Deno.test("no schedule falls below 0 where the last update begins beyond the end", () => {
  assertEquals([0.25, 1, 1.0004, 2].map(schedule("linear")), [0.75, 0, 0, 0]);
  for (const name of scheduleNames) {
    for (const progress of [1, 1.0001, 1.5, 100]) {
      assert(schedule(name)(progress) >= 0, `${name} at ${progress}`);
    }
  }
});

Deno.test("constant stays at 1 anywhere", () => {
  assertEquals([-1, 0, 0.5, 7].map(constant), [1, 1, 1, 1]);
});

for (const it of fixture.actorcritic_linear_decay_no_clamp) {
  const { start, end, total_steps, step } = it.inputs;
  Deno.test(`linearDecay from ${start} to ${end} goes on beyond the end`, () => {
    const value = linearDecay(start, end, total_steps);
    step.forEach((at, i) =>
      assertAlmostEquals(value(at), it.expected[i], 1e-12)
    );
  });
}

Deno.test("linearDecay needs steps", () => {
  assertRefused({
    "RangeError: Cannot decay over 0 steps: expected a number above 0": () =>
      linearDecay(1, 0, 0),
  });
});

for (const { inputs, expected } of fixture.linear_schedule) {
  const { schedule_timesteps: numSteps, initial_p, final_p, t } = inputs;
  Deno.test(`clampedLinear from ${initial_p} to ${final_p} as the original`, () => {
    const value = clampedLinear({
      numSteps,
      final: final_p,
      initial: initial_p,
    });
    t.forEach((it, i) => assertAlmostEquals(value(it), expected[i], 1e-12));
  });
}

Deno.test("clampedLinear needs steps", () => {
  assertRefused({
    "RangeError: Cannot change over 0 steps: expected a number above 0": () =>
      clampedLinear({ numSteps: 0, final: 0 }),
  });
});

Deno.test("cosine holds its ends", () => {
  assertEquals([-1, 0, 1, 2].map(cosine), [1, 1, 0, 0]);
});

Deno.test("cosine has the closed form's values", () => {
  assertAlmostEquals(cosine(1 / 3), 0.75);
  assertAlmostEquals(cosine(0.25), (1 + Math.SQRT1_2) / 2);
});

Deno.test("cosine is symmetric about its middle", () => {
  fc.assert(fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (it) => {
    assertAlmostEquals(cosine(it) + cosine(1 - it), 1, 1e-12);
  }));
});

Deno.test("exponential falls to a hundredth", () => {
  assertEquals([exponential(0), exponential(1)], [1, 0.01]);
  assertAlmostEquals(exponential(1.5), 0.001, 1e-12);
});

for (const [n, { inputs, expected }] of fixture.piecewise.entries()) {
  Deno.test(`piecewise has the original's values: ${n}`, () => {
    const value = piecewise(inputs.endpoints as [number, number][], {
      outside: inputs.outside_value,
    });
    inputs.t.forEach((it, i) =>
      assertAlmostEquals(value(it), expected[i], 1e-11)
    );
  });
}

Deno.test("piecewise without an outside value is an error outside", () => {
  assertEquals(fixture.piecewise_outside_without_value_raises, true);
  const value = piecewise([[0, 1], [10, 2]]);
  assertEquals(value(5), 1.5);
  for (const step of [-1, 10]) {
    assertRefused({
      [`RangeError: Cannot compute the value at step ${step}`]: () =>
        value(step),
    });
  }
});

Deno.test("piecewise takes an outside value of 0", () => {
  assertEquals(piecewise([[0, 1], [10, 2]], { outside: 0 })(10), 0);
});

Deno.test("piecewise jumps where two points are at one step, as the original", () => {
  // From PiecewiseSchedule of openai/baselines @ea25b9e.
  const points = [[0, 1], [4, 2], [4, -1], [8, -3], [8, 5]] as const;
  const value = piecewise(points, { outside: 9 });
  const steps = [-1, 0, 2, 3.5, 4, 6, 7.5, 8, 9];
  assertEquals(steps.map(value), [9, 1, 1.5, 1.875, -1, -2, -2.75, 9, 9]);
  const thrice = piecewise([[0, 1], [2, 7], [2, 8], [2, 3], [3, 3]]);
  assertEquals([0, 1, 2, 2.5].map(thrice), [1, 4, 3, 3]);
});

Deno.test("piecewise refuses steps that fall", () => {
  for (const step of [4, NaN]) {
    assertRefused({
      [`RangeError: Cannot put a point at step ${step} after one at step 5: steps must not fall`]:
        () => piecewise([[5, 1], [step, 2]]),
    });
  }
});

Deno.test("warmup rises to the schedule's first value", () => {
  const schedule = warmup(scale(constant, 8), { fraction: 0.5, start: 4 });
  assertEquals([0, 0.25, 0.5, 1].map(schedule), [4, 6, 8, 8]);
});

Deno.test("warmup leaves the schedule the rest of the whole", () => {
  const schedule = warmup(linear);
  assertEquals([schedule(0), schedule(0.05), schedule(1)], [0, 1, 0]);
  assertAlmostEquals(schedule(0.025), 0.5);
  assertAlmostEquals(schedule(0.05 + 0.95 / 4), 0.75);
});

Deno.test("warmup needs a fraction between 0 and 1", () => {
  for (const fraction of [0, 1, NaN]) {
    assertRefused({
      [`RangeError: Cannot warm up for a fraction of ${fraction}: expected one between 0 and 1`]:
        () => warmup(linear, { fraction }),
    });
  }
});

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
    "Unknown schedule 'double_linear': expected one of constant, linear, double_linear_con",
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
