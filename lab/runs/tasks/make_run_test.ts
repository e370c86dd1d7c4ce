import { holderOf, lockRun } from "../folder/lock.ts";
import { LOCK_FILE } from "../folder/run_folder.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { resolveConfig } from "../settings/resolve.ts";
import { type JobEnd, startJob } from "./job.ts";
import { recordOf, type RunEvent, runJob, type RunTask } from "./run_task.ts";
import { capture } from "../../../cli/testdata/capture.ts";

const settings = resolveConfig("a2c", {
  entries: [
    ["env", "CartPole-v1"],
    ["totalTimesteps", 60_000],
    ["checkpointInterval", 2000],
    ["evaluationEpisodes", 3],
    ["hiddenSizes", [8]],
    ["seed", 3],
  ],
});
const episodes = 5;

/** Makes a run by a job to its end. */
async function make(
  task: RunTask,
): Promise<{ end: JobEnd; events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const end = await startJob(runJob(task, (it) => events.push(it))).ended;
  return { end, events };
}

/** Reads what a run came to, without times and how often it was killed. */
function endOf(dir: string) {
  const { state, reason, step, updates, evaluations, seconds } = recordOf(dir)!;
  assert(seconds > 0);
  return { state, reason, step, updates, evaluations };
}

Deno.test("a job trains and evaluates a run, killed or not", async () => {
  const root = await Deno.makeTempDir();
  const whole = { dir: `${root}/whole/seed-3`, settings, episodes };
  const { end, events } = await make(whole);
  assertEquals([end.code, end.message], [0, ""]);
  assertEquals(events.at(-1)?.step, 60_000);
  assert(events[0].memory! > 2 ** 20);
  const expected = endOf(whole.dir), { last } = expected.evaluations;
  assertEquals([expected.step, last!.step, last!.episodes], [
    60_000,
    60_000,
    5,
  ]);
  assertEquals(expected.evaluations.during.length, 20);
  const { out } = await capture(
    ...["eval", whole.dir, "--checkpoint=latest", "--json"],
    ...["--episodes=5", "--seed=20000"],
  );
  assertEquals(last!.meanReturn, JSON.parse(out).meanReturn);

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
    assertEquals(holderOf(`${killed.dir}/${LOCK_FILE}`), undefined);
  }
  assertEquals((await make(killed)).end.code, 0);
  assertEquals(endOf(killed.dir), expected);
  const { resumes } = recordOf(killed.dir)!;
  assert(resumes >= 1 && resumes <= 2, `${resumes}`);
  // Once more, and nothing is left to do.
  assertEquals((await make(killed)).events, []);
  await Deno.remove(root, { recursive: true });
});

Deno.test("a job that cannot make its run tells why, and leaves no folder", async () => {
  const root = await Deno.makeTempDir();
  const dir = `${root}/run`;
  const wrong = { ...settings, env: "CartPol-v1" };
  const { end } = await make({ dir, settings: wrong });
  assertEquals(end.code, 2);
  assertMatch(end.message, /did you mean 'CartPole-v1'/);
  assertEquals([...Deno.readDirSync(root)], []);
  await Deno.remove(root, { recursive: true });
});

Deno.test("a job does not make a run that another process makes", async () => {
  const root = await Deno.makeTempDir();
  const dir = `${root}/run`;
  Deno.mkdirSync(dir);
  const lock = lockRun(dir);
  const { end } = await make({ dir, settings });
  assertEquals(end.code, 2);
  assertMatch(
    end.message,
    /Cannot use the run .*: process \d+ on .* trains it/,
  );
  lock.release();
  assertEquals([...Deno.readDirSync(dir)], []);
  await Deno.remove(root, { recursive: true });
});
