import { assert, assertEquals } from "@std/assert";
import {
  isMujocoInstalled,
  MujocoEnv,
  type MujocoTaskName,
} from "@bellman/envs/mujoco";
import {
  type Course,
  type Deviation,
  follow,
  makeFor,
  readCourses,
  recordedNames,
} from "./trajectories.ts";

/** The version of the native library, if there is one. */
function nativeVersion(): string | undefined {
  if (!isMujocoInstalled()) return undefined;
  try {
    const env = new MujocoEnv("InvertedPendulum", { engine: "native" });
    env.close();
    return env.mujocoVersion;
  } catch {
    return undefined;
  }
}

const NATIVE = "4.0.0";
const WASM = "3.14.0";
const folderOf = (version: string): URL =>
  new URL(`./${version}/`, import.meta.url);

function deviationOf(
  name: MujocoTaskName,
  course: Course,
  engine: "native" | "wasm",
): Deviation {
  const env = makeFor(name, { ...course.options, engine });
  try {
    assertEquals(env.mujocoVersion, course.mujoco);
    return follow(env, course);
  } finally {
    env.close();
  }
}

for (const name of recordedNames(folderOf(NATIVE))) {
  Deno.test({
    name: `${name} goes Gymnasium's way, with any options [MuJoCo]`,
    ignore: nativeVersion() !== NATIVE,
    fn() {
      for (const course of readCourses(folderOf(NATIVE), name)) {
        const { observation, reward, info, ends } = deviationOf(
          name,
          course,
          "native",
        );
        assert(observation <= 1e-9, `observations differ by ${observation}`);
        assert(reward <= 1e-12, `rewards differ by ${reward}`);
        assert(info <= 1e-12, `what is told differs by ${info}`);
        assertEquals(ends, 0);
      }
    },
  });

  Deno.test({
    name: `${name} in WebAssembly goes nearly that of its own version [MuJoCo]`,
    ignore: !isMujocoInstalled(),
    async fn() {
      await import("@bellman/envs/mujoco/wasm");
      for (const course of readCourses(folderOf(WASM), name)) {
        // Differences in last digits grow from step to step.
        const { observation, reward, info, ends } = deviationOf(
          name,
          course,
          "wasm",
        );
        assert(observation <= 1e-6, `observations differ by ${observation}`);
        assert(reward <= 1e-6, `rewards differ by ${reward}`);
        assert(info <= 1e-6, `what is told differs by ${info}`);
        assertEquals(ends, 0);
      }
    },
  });
}
