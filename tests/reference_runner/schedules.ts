import {
  clampedLinear,
  constant,
  linearDecay,
  piecewise,
  scale,
  schedule,
  type ScheduleName,
  Scheduler,
} from "@bellman/schedulers";
import type { Comparison, FixtureRunner } from "./comparison.ts";

const TOLERANCE = 1e-9;

interface SchedulerCase {
  inputs: {
    v: number;
    nvalues: number;
    schedule: ScheduleName;
    steps: number[];
  };
  expected: { value_steps: number[]; first_12_value_calls: number[] };
}

function runScheduler(
  { inputs, expected }: SchedulerCase,
  comparison: Comparison,
): void {
  const scheduler = new Scheduler({
    value: inputs.v,
    numValues: inputs.nvalues,
    schedule: schedule(inputs.schedule),
  });
  comparison.numbers(
    "value_steps",
    inputs.steps.map((steps) => scheduler.valueAt(steps)),
    { expected: expected.value_steps, tolerance: TOLERANCE },
  );
  comparison.numbers(
    "value calls",
    expected.first_12_value_calls.map(() => scheduler.value()),
    { expected: expected.first_12_value_calls, tolerance: TOLERANCE },
  );
}

function raises(run: () => void): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return error instanceof RangeError;
  }
}

/** Schedules of baselines and jrobine/actor-critic. */
export const schedulesRunner: FixtureRunner = async (fixture, comparison) => {
  const compare = (
    name: string,
    values: () => number[],
    expected: number[],
  ) =>
    comparison.check(name, () => {
      comparison.numbers("values", values(), {
        expected,
        tolerance: TOLERANCE,
      });
    });
  const { p, values } = fixture.fraction_schedules ?? { p: [], values: {} };
  for (const [name, expected] of Object.entries<number[]>(values)) {
    await compare(
      `schedule ${name}`,
      () => p.map(schedule(name as ScheduleName)),
      expected,
    );
  }
  for (const [i, it] of (fixture.scheduler ?? []).entries()) {
    await comparison.check(
      `scheduler ${i}, ${it.inputs.schedule}`,
      () => runScheduler(it, comparison),
    );
  }
  for (const [i, it] of (fixture.linear_schedule ?? []).entries()) {
    const { schedule_timesteps, final_p, initial_p, t } = it.inputs;
    const options = {
      numSteps: schedule_timesteps,
      final: final_p,
      initial: initial_p,
    };
    await compare(
      `linear schedule ${i}`,
      () => t.map(clampedLinear(options)),
      it.expected,
    );
  }
  for (const [i, it] of (fixture.piecewise ?? []).entries()) {
    const { endpoints, outside_value, t } = it.inputs;
    const rate = () => piecewise(endpoints, { outside: outside_value });
    await compare(`piecewise ${i}`, () => t.map(rate()), it.expected);
  }
  if (fixture.piecewise_outside_without_value_raises) {
    await comparison.check("piecewise without an outside value", () => {
      comparison.that("error", raises(() => piecewise([[0, 1], [1, 2]])(1)));
    });
  }
  if (fixture.constant) {
    const { value, expected } = fixture.constant;
    const same = scale(constant, value);
    await compare(
      "constant",
      () => expected.map((_: number, i: number) => same(i)),
      expected,
    );
  }
  for (
    const [i, it] of (fixture.actorcritic_linear_decay_no_clamp ?? []).entries()
  ) {
    const { start, end, total_steps, step } = it.inputs;
    await compare(
      `linear decay ${i}`,
      () => step.map(linearDecay(start, end, total_steps)),
      it.expected,
    );
  }
};
