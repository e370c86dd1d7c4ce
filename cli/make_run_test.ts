import { assert, assertEquals, assertMatch } from "@std/assert";
import { type JobEnd, startJob } from "./jobs/job.ts";
import {
  EVALUATIONS_FILE,
  lockOf,
  type RunEvaluations,
  type RunEvent,
  runJob,
  type RunTask,
} from "./jobs/run_task.ts";
import { holderOf, lockFile } from "./run/ownership.ts";
import { capture } from "./testdata/capture.ts";

const TRAIN = [
  "train",
  "a2c",
  "--env=CartPole-v1",
  "--steps=60000",
  "--set=checkpointInterval=2000",
  "--set=evaluationEpisodes=3",
  "--set=hiddenSizes=[8]",
  "--seed=3",
  "--quiet",
];
const evaluation = { episodes: 5, seed: 1_000_003 };

/** Makes a run by a job to its end. */
async function make(
  task: RunTask,
): Promise<{ end: JobEnd; events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const end = await startJob(runJob(task, (it) => events.push(it))).ended;
  return { end, events };
}

/** Reads the evaluations of a run, without the time that it took. */
function evaluationsOf(dir: string): Omit<RunEvaluations, "seconds"> {
  const text = Deno.readTextFileSync(`${dir}/${EVALUATIONS_FILE}`);
  const { seconds, ...rest }: RunEvaluations = JSON.parse(text);
  assert(seconds > 0);
  return rest;
}

Deno.test("a job trains and evaluates a run, killed or not", async () => {
  const root = await Deno.makeTempDir();
  const whole = { dir: `${root}/whole/seed-3`, train: TRAIN, evaluation };
  const { end, events } = await make(whole);
  assertEquals([end.code, end.message], [0, ""]);
  assertEquals(events.at(-1)?.step, 60_000);
  assert(events[0].memory! > 2 ** 20);
  const expected = evaluationsOf(whole.dir);
  assertEquals([expected.steps, expected.last.step], [60_000, 60_000]);
  const { out } = await capture(
    ...["eval", whole.dir, "--checkpoint=latest", "--json"],
    ...["--episodes=5", "--seed=1000003"],
  );
  assertEquals(expected.last.meanReturn, JSON.parse(out).meanReturn);

  const killed = { ...whole, dir: `${root}/killed/seed-3` };
  // In its first second, then while it trains, early enough that much is left to do when
  // the signal comes late; the last one is asked to stop.
  for (const at of [0, 1, 3, 4]) {
    let seen = 0;
    const job = startJob(runJob(killed, () => {
      if (++seen !== at) return;
      if (at === 4) job.stop();
      else Deno.kill(job.pid, "SIGKILL");
    }));
    if (at === 0) Deno.kill(job.pid, "SIGKILL");
    assert((await job.ended).code !== 0);
    assertEquals(holderOf(lockOf(killed.dir)), undefined);
  }
  assertEquals((await make(killed)).end.code, 0);
  assertEquals(evaluationsOf(killed.dir), expected);
  // Once more, and nothing is left to do.
  assertEquals((await make(killed)).events, []);
  await Deno.remove(root, { recursive: true });
});

Deno.test("a job that cannot make its run tells why, and leaves no folder", async () => {
  const root = await Deno.makeTempDir();
  const dir = `${root}/run`;
  const train = ["train", "a2c", "--env=CartPol-v1", "--quiet"];
  const { end } = await make({ dir, train });
  assertEquals(end.code, 2);
  assertMatch(end.message, /did you mean 'CartPole-v1'/);
  assertEquals([...Deno.readDirSync(root)], []);
  await Deno.remove(root, { recursive: true });
});

Deno.test("a job does not make a run that another process makes", async () => {
  const root = await Deno.makeTempDir();
  const dir = `${root}/run`;
  const lock = lockFile(lockOf(dir), String);
  const { end } = await make({ dir, train: TRAIN });
  assertEquals(end.code, 2);
  assertMatch(end.message, /Cannot use the run .*: process \d+ on .* makes it/);
  lock.release();
  assertEquals([...Deno.readDirSync(root)], []);
  await Deno.remove(root, { recursive: true });
});
