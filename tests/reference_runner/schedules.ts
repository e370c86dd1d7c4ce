import {
  clampedLinear,
  linearDecay,
  piecewise,
  scale,
  type Schedule,
  schedule,
  type ScheduleName,
  Scheduler,
} from "@bellman/schedulers";
import {
  checkEach,
  type Comparison,
  type Expected,
  type FixtureRunner,
} from "./comparison.ts";

/** A schedule as baselines has it: its `linear` falls on below 0. */
function original(name: ScheduleName): Schedule {
  return name === "linear" ? linearDecay(1, 0, 1) : schedule(name);
}

/** A case of the fixture: where a schedule is asked, and what it says. */
interface Case {
  // deno-lint-ignore no-explicit-any -- each kind of schedule has its own
  inputs: any;
  expected: Expected;
}

interface SchedulerCase {
  inputs: {
    v: number;
    nvalues: number;
    schedule: ScheduleName;
    steps: number[];
  };
  expected: { value_steps: number[]; first_12_value_calls: number[] };
}

function runScheduler(it: SchedulerCase, comparison: Comparison): void {
  const scheduler = new Scheduler({
    value: it.inputs.v,
    numValues: it.inputs.nvalues,
    schedule: original(it.inputs.schedule),
  });
  const { value_steps, first_12_value_calls } = it.expected;
  comparison.numbers(
    "value_steps",
    it.inputs.steps.map((steps) => scheduler.valueAt(steps)),
    value_steps,
  );
  comparison.numbers(
    "value calls",
    first_12_value_calls.map(() => scheduler.value()),
    first_12_value_calls,
  );
}

/** The step schedules of the fixture, by the key of their cases. */
const STEP_SCHEDULES: Readonly<
  Record<string, (inputs: Case["inputs"]) => number[]>
> = {
  linear_schedule: ({ schedule_timesteps, final_p, initial_p, t }) =>
    t.map(clampedLinear({
      numSteps: schedule_timesteps,
      final: final_p,
      initial: initial_p,
    })),
  piecewise: ({ endpoints, outside_value, t }) =>
    t.map(piecewise(endpoints, { outside: outside_value ?? undefined })),
  actorcritic_linear_decay_no_clamp: ({ start, end, total_steps, step }) =>
    step.map(linearDecay(start, end, total_steps)),
};

function raisesOutside(): boolean {
  try {
    piecewise([[0, 1], [1, 2]])(-1);
    return false;
  } catch (error) {
    return error instanceof RangeError;
  }
}

/** Schedules of baselines and of jrobine/actor-critic. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  const stepSchedules = Object.entries(STEP_SCHEDULES).map((
    [key, compute],
  ): [string, FixtureRunner] => [
    key,
    (it: Case, comparison) =>
      comparison.numbers(key, compute(it.inputs), it.expected),
  ]);
  await checkEach({
    scheduler: runScheduler,
    ...Object.fromEntries(stepSchedules),
  }, 1e-9)(fixture, comparison, engine);
  const { p = [], values = {} } = fixture.fraction_schedules ?? {};
  for (const [name, expected] of Object.entries(values)) {
    await comparison.check(name, () => {
      const found = p.map(original(name as ScheduleName));
      comparison.numbers(name, found, expected as number[]);
    });
  }
  if (fixture.piecewise_outside_without_value_raises) {
    await comparison.check(
      "piecewise without an outside value",
      () => comparison.that("it raises outside", raisesOutside()),
    );
  }
  if (fixture.constant) {
    const { value, expected } = fixture.constant;
    const constant = scale(schedule("constant"), value);
    await comparison.check("constant", () => {
      const found = expected.map((_: number, i: number) => constant(i));
      comparison.numbers("constant", found, expected);
    });
  }
};
