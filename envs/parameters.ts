import type {
  EnvParameter,
  EnvParameters,
  RandomSource,
  StateTree,
} from "@bellman/types";
import { snapshotRecord } from "./snapshot.ts";

/** A value that an agent trains with until it does well. */
export interface Lesson {
  /** The value. */
  readonly value: EnvParameter;
  /** Mean return of the last `episodes` episodes that ends the lesson; the last has none. */
  readonly until?: number;
  /**
   * Number of those episodes, all of this lesson.
   *
   * @default 100
   */
  readonly episodes?: number;
}

/** Parameters of a run by name: values, schedules over its progress, and lessons. */
export type ParameterSettings = Readonly<
  Record<
    string,
    | EnvParameter
    | {
      readonly schedule:
        readonly (readonly [progress: number, value: number])[];
    }
    | { readonly lessons: readonly Lesson[] }
  >
>;

/** Steps of the progress at which schedules are looked up. */
const STEPS = 1_000;
const FORMS =
  "a number, a text, true or false, [low, high], {oneOf: [...]}, {schedule: [[progress, value], ...]} or {lessons: [{value, until}, ..., {value}]}";

const isPlain = (it: unknown) =>
  Number.isFinite(it) || typeof it === "string" || typeof it === "boolean";

function isValue(value: unknown): boolean {
  if (isPlain(value)) return true;
  if (isPair(value)) return value[0] <= value[1];
  const { oneOf, ...rest } = Object(value) as { oneOf?: unknown[] };
  return Array.isArray(oneOf) && oneOf.length > 0 && oneOf.every(isPlain) &&
    Object.keys(rest).length === 0;
}

function isPair(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 &&
    value.every(Number.isFinite);
}

function isLesson(lesson: unknown): boolean {
  const { value, until = 0, episodes = 1, ...rest } = Object(lesson) as Lesson;
  return isValue(value) && Number.isFinite(until) && episodes >= 1 &&
    Number.isInteger(episodes) && Object.keys(rest).length === 0;
}

/** Describes what is wrong with a setting, if something is. */
function faultOf(setting: unknown): string | undefined {
  if (isValue(setting)) return undefined;
  const { schedule, lessons, ...rest } = Object(setting) as {
    schedule?: [number, number][];
    lessons?: Lesson[];
  };
  const list: unknown[] | undefined = schedule ?? lessons;
  const isForm = Array.isArray(list) && list.length > 0 &&
    list.every(schedule ? isPair : isLesson) &&
    (schedule && lessons) === undefined && Object.keys(rest).length === 0;
  if (!isForm) return `it is ${JSON.stringify(setting)}, expected ${FORMS}`;
  if (lessons) return lessonsFault(lessons);
  const times = schedule!.map(([at]) => at);
  const rises = times.every((at, i) =>
    at >= 0 && at <= 1 && (i === 0 || at > times[i - 1])
  );
  if (rises) return undefined;
  return `expected progress that rises from 0 to 1, not ${times.join(", ")}`;
}

function lessonsFault(lessons: readonly Lesson[]): string | undefined {
  const endless = lessons.findIndex((it) => it.until === undefined);
  if (endless < 0) {
    return `its last lesson has until: ${lessons.at(-1)!.until}, expected none`;
  }
  return endless === lessons.length - 1
    ? undefined
    : `lesson ${endless + 1} has no until, expected a mean return that ends it`;
}

/** Value of a schedule, linear between its points. */
function scheduled(
  points: readonly (readonly [number, number])[],
  progress: number,
): number {
  const next = points.findIndex(([at]) => at > progress);
  if (next === 0) return points[0][1];
  if (next < 0) return points.at(-1)![1];
  const [[from, low], [to, high]] = [points[next - 1], points[next]];
  return low + (high - low) * (progress - from) / (to - from);
}

/** Returns of the lesson that a parameter is in. */
interface Course {
  lesson: number;
  /** Step at which it began. */
  since: number;
  returns: number[];
}

/**
 * Parameters over a run: what is in force at a time, by schedules and lessons.
 *
 * @example
 * ```ts
 * import { Curriculum } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const curriculum = new Curriculum({
 *   wind: { schedule: [[0, 0], [0.5, 2]] },
 *   level: { lessons: [{ value: "easy", until: 5, episodes: 2 }, { value: "hard" }] },
 * });
 * assertEquals(curriculum.values(0.25), { wind: 1, level: "easy" });
 * curriculum.observe(4);
 * curriculum.observe(6);
 * assertEquals(curriculum.values(1), { wind: 2, level: "hard" });
 * ```
 */
export class Curriculum {
  readonly #settings: ParameterSettings;
  readonly #courses = new Map<string, Course>();

  /**
   * Checks settings.
   *
   * @param settings Parameters by name.
   * @throws {TypeError} If one has none of the forms, a schedule whose progress does not
   * rise, a last lesson that ends or another that does not.
   */
  constructor(settings: ParameterSettings) {
    for (const [name, setting] of Object.entries(settings)) {
      const fault = faultOf(setting);
      if (fault) {
        throw new TypeError(`Cannot set the parameter '${name}': ${fault}`);
      }
      if (lessonsOf(setting)) {
        this.#courses.set(name, { lesson: 0, since: -1, returns: [] });
      }
    }
    this.#settings = settings;
  }

  /** Number of the present lesson of each parameter that has some, from 1 on. */
  get lessons(): Readonly<Record<string, number>> {
    const entries = [...this.#courses];
    return Object.fromEntries(
      entries.map(([name, it]) => [name, it.lesson + 1]),
    );
  }

  /**
   * Returns the values in force.
   *
   * @param progress Progress of the run from 0 to 1, of which whole thousandths count.
   */
  values(progress: number): EnvParameters {
    return this.#map((name) => this.#courses.get(name)!.lesson, progress);
  }

  /** Values at the end of a run: those of the task, for evaluations. */
  get goal(): EnvParameters {
    return this.#map(() => -1, 1);
  }

  #map(lessonOf: (name: string) => number, progress: number): EnvParameters {
    const at = Math.floor(progress * STEPS) / STEPS;
    return Object.fromEntries(
      Object.entries(this.#settings).map(([name, setting]) => {
        const lessons = lessonsOf(setting);
        if (lessons) return [name, lessons.at(lessonOf(name))!.value];
        const { schedule } = Object(setting) as {
          schedule?: [number, number][];
        };
        return [
          name,
          schedule ? scheduled(schedule, at) : setting as EnvParameter,
        ];
      }),
    );
  }

  /**
   * Counts an episode that ended, which may end lessons.
   *
   * @param episodeReturn Its return.
   * @param times Steps of its environment, over the run, at which it began and ended:
   * it counts only for lessons that began earlier; by default for all.
   * @returns Parameters whose lesson ended.
   */
  observe(
    episodeReturn: number,
    { began = Infinity, ended = 0 }: { began?: number; ended?: number } = {},
  ): string[] {
    return [...this.#courses.keys()].filter((name) => {
      const course = this.#courses.get(name)!, { returns } = course;
      const { until, episodes = 100 } =
        lessonsOf(this.#settings[name])![course.lesson];
      if (until === undefined || began <= course.since) return false;
      returns.push(episodeReturn);
      if (returns.length > episodes) returns.shift();
      const mean = returns.reduce((sum, it) => sum + it, 0) / returns.length;
      if (returns.length < episodes || mean < until) return false;
      course.lesson++;
      course.since = ended;
      course.returns = [];
      return true;
    });
  }

  /** Saves the lessons, and the returns that count for them. */
  save(): StateTree {
    return Object.fromEntries(
      [...this.#courses].map(([name, { returns, ...course }]) => [name, {
        ...{ ...course, returns: Float64Array.from(returns) },
      }]),
    );
  }

  /**
   * Restores what `save` returned.
   *
   * @param state The state.
   */
  load(state: StateTree): void {
    const all = snapshotRecord(state, [...this.#courses.keys()]);
    for (const [name, course] of this.#courses) {
      const saved = snapshotRecord(all[name], ["lesson", "since", "returns"]);
      course.lesson = saved.lesson as number;
      course.since = saved.since as number;
      course.returns = [...saved.returns as Float64Array];
    }
  }
}

function lessonsOf(setting: unknown): readonly Lesson[] | undefined {
  return (Object(setting) as { lessons?: Lesson[] }).lessons;
}

/** Draws the parameters of an episode; `read` has true for those that it looks at. */
export function drawParameters(
  values: EnvParameters,
  random: RandomSource,
  read: Map<string, boolean>,
): Readonly<Record<string, unknown>> {
  const parameters = {};
  for (const [name, value] of Object.entries(values)) {
    const drawn = drawnOf(value, random);
    const get = () => {
      read.set(name, true);
      return drawn;
    };
    Object.defineProperty(parameters, name, { get, enumerable: true });
    if (!read.has(name)) read.set(name, false);
  }
  return parameters;
}

function drawnOf(value: EnvParameter, random: RandomSource): unknown {
  if (Array.isArray(value)) {
    const [low, high] = value as [number, number];
    return low + (high - low) * random.uniform();
  }
  if (typeof value !== "object") return value;
  const { oneOf } = value as { oneOf: readonly unknown[] };
  return oneOf[random.integer(oneOf.length)];
}
