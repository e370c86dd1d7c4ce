/** Courses of Gymnasium's environments on MuJoCo, and how ours follow them. */
import { make } from "@bellman/envs";
import type {
  MujocoEnv,
  MujocoOptions,
  MujocoTaskName,
} from "@bellman/envs/mujoco";

type Place = [start: number, length: number];

/** A recorded course as it stands in the file. */
interface CourseFile {
  options: Record<string, unknown>;
  steps: number;
  observed: number;
  observationSize: number;
  ends: number[];
  infos: Record<string, number | number[]>[];
  starts: Place;
  rewards: Place;
  sums: Place;
  observations: Place;
}

/** A recorded course of Gymnasium's environment. */
export interface Course {
  /** The version of MuJoCo that it is of. */
  mujoco: string;
  /** The environment's options in our spelling. */
  options: MujocoOptions;
  /** Each `observed`-th observation is there. */
  observed: number;
  /** Numbers of an observation. */
  observationSize: number;
  /** Steps that ended an episode. */
  ends: Set<number>;
  /** What was told with each observation that is there. */
  infos: Record<string, number | number[]>[];
  /** The first positions and velocities of each episode, one after the other. */
  starts: Float64Array;
  rewards: Float64Array;
  /** The sum of each observation's numbers. */
  sums: Float64Array;
  observations: Float64Array;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The environments that a folder holds courses of. */
export function recordedNames(folder: URL): MujocoTaskName[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(".json")).sort()
    .map((name) => name.replace(".json", "") as MujocoTaskName);
}

/** Reads the courses of an environment that a folder holds. */
export function readCourses(folder: URL, name: MujocoTaskName): Course[] {
  const at = new URL(name, folder);
  const { mujoco, courses } = JSON.parse(Deno.readTextFileSync(
    new URL(`${at}.json`),
  )) as { mujoco: string; courses: CourseFile[] };
  const bytes = Deno.readFileSync(new URL(`${at}.bin`));
  const numbers = new Float64Array(bytes.buffer);
  const part = ([start, length]: Place) =>
    numbers.subarray(start, start + length);
  return courses.map((it) => ({
    mujoco,
    options: Object.fromEntries(
      Object.entries(it.options).map(([key, value]) => [camelCase(key), value]),
    ),
    observed: it.observed,
    observationSize: it.observationSize,
    ends: new Set(it.ends),
    infos: it.infos,
    starts: part(it.starts),
    rewards: part(it.rewards),
    sums: part(it.sums),
    observations: part(it.observations),
  }));
}

/** The recorder's actions: uniform, of a generator that is easy to repeat. */
export function recordedActions(
  low: readonly number[],
  high: readonly number[],
): () => Float32Array {
  let state = 7;
  return () =>
    Float32Array.from(low, (least, i) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const [a, b] = [Math.fround(least), Math.fround(high[i])];
      return a + (b - a) * (state / 2 ** 32);
    });
}

/** How far an environment strays from a course at most. */
export interface Deviation {
  /** Of observations, relative to the larger of 1 and the number. */
  observation: number;
  /** Of rewards, likewise. */
  reward: number;
  /** Of what is told, likewise. */
  info: number;
  /** Steps of which the one ended the episode and the other did not. */
  ends: number;
}

function relative(actual: number, expected: number): number {
  const difference = Math.abs(actual - expected) /
    Math.max(1, Math.abs(expected));
  return Number.isNaN(difference) ? Infinity : difference;
}

/** Repeats a course. */
export function follow(env: MujocoEnv, course: Course): Deviation {
  const most = { observation: 0, reward: 0, info: 0, ends: 0 };
  const raise = (key: keyof Deviation, actual: number, expected: number) => {
    most[key] = Math.max(most[key], relative(actual, expected));
  };
  const { low, high } = env.actionSpace;
  const choose = recordedActions(low as number[], high as number[]);
  const { observed, observationSize: size } = course;
  const nq = env.qpos.length, length = nq + env.qvel.length;
  let begun = 0, isOver = true;
  for (let step = 0; step < course.rewards.length; step++) {
    if (isOver) {
      const start = course.starts.subarray(begun * length, ++begun * length);
      env.setState(start.subarray(0, nq), start.subarray(nq));
    }
    const { observation, reward, terminated, info } = env.step(choose());
    isOver = course.ends.has(step);
    if (terminated !== isOver) most.ends++;
    raise("reward", reward, course.rewards[step]);
    const sum = observation.reduce((total, it) => total + it, 0);
    raise("observation", sum, course.sums[step]);
    if ((step + 1) % observed !== 0) continue;
    const row = (step + 1) / observed - 1;
    observation.forEach((value, i) =>
      raise("observation", value, course.observations[row * size + i])
    );
    const told = course.infos[row];
    const names = [told, info!].map((it) => Object.keys(it).sort().join());
    if (names[0] !== names[1]) most.info = NaN;
    for (const [key, value] of Object.entries(told)) {
      const ours = info![key] as number | Float64Array;
      if (typeof value === "number") raise("info", ours as number, value);
      else {value.forEach((it, i) =>
          raise("info", (ours as Float64Array)[i], it)
        );}
    }
  }
  return most;
}

/** Makes the environment that a course was recorded of. */
export function makeFor(
  name: MujocoTaskName,
  options: MujocoOptions,
): MujocoEnv {
  const env = make(`${name}-v5`, {
    maxEpisodeSteps: Infinity,
    kwargs: { ...options },
  });
  return (env as unknown as { env: MujocoEnv }).env;
}
