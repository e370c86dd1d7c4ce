// deno-lint-ignore-file no-console -- a program that prints
/**
 * Deviation of the environments on MuJoCo from what Gymnasium's have just done
 * in the same round: the largest difference of any number, and how many ends of
 * episodes differ.
 */
import "@bellman/envs/mujoco";
import {
  follow,
  makeFor,
  readCourses,
  recordedNames,
} from "../mujoco/trajectories.ts";

const { folder } = JSON.parse(Deno.args[0]) as { folder: string };
const at = new URL(`../../${folder}/`, import.meta.url);
const most = { courses: 0, observation: 0, reward: 0, info: 0, ends: 0 };

for (const name of recordedNames(at)) {
  for (const course of readCourses(at, name)) {
    const env = makeFor(name, course.options);
    if (env.mujocoVersion !== course.mujoco) {
      throw new Error(
        `Cannot compare MuJoCo ${env.mujocoVersion} with the peers' ${course.mujoco}: their last digits differ`,
      );
    }
    const strayed = follow(env, course);
    env.close();
    for (const key of ["observation", "reward", "info"] as const) {
      most[key] = Math.max(most[key], strayed[key]);
    }
    most.ends += strayed.ends;
    most.courses++;
  }
}
console.log(JSON.stringify(most));
