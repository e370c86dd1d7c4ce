/** A program that trains is killed until it ends, whenever that is. */
import { isStateRecord } from "@bellman/files";
import { CheckpointStore, readProgress } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import { runAndKill } from "../../algorithms/training/testdata/kill.ts";

/** Everything that a run ends with, but for the clock. */
function timeless(state: StateTree): StateTree {
  assert(isStateRecord(state) && isStateRecord(state.loop));
  assert(typeof state.loop.elapsedSeconds === "number");
  return { ...state, loop: { ...state.loop, elapsedSeconds: 0 } };
}

Deno.test("a process killed again and again ends as an uninterrupted one", async () => {
  const total = "60000";
  const [whole, killed] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  const { output } = await runAndKill(
    "train_process.ts",
    [whole, total],
    Infinity,
  );
  assertEquals(output, `ready\ncompleted ${total}\n`);

  let kills = 0;
  for (;;) {
    // Later kills come later, so that the run ends at last.
    const delay = 37 * kills % 211 + 5 * kills;
    const { completed } = await runAndKill(
      "train_process.ts",
      [killed, total],
      delay,
    );
    if (completed) break;
    kills++;
  }
  assert(kills >= 3, `${kills} kills`);

  const load = (dir: string, which: "latest" | "best") =>
    new CheckpointStore(`${dir}/checkpoints`).load(which);
  for (const which of ["latest", "best"] as const) {
    const [a, b] = [load(killed, which), load(whole, which)];
    assertEquals([a.step, a.warnings], [b.step, []]);
    assertEquals(timeless(a.state), timeless(b.state));
  }
  const read = (dir: string, name: string) =>
    Deno.readTextFileSync(`${dir}/${name}`);
  assertEquals(read(killed, "episodes.csv"), read(whole, "episodes.csv"));
  const rows = (dir: string) =>
    readProgress(`${dir}/progress.csv`).map(({ step, statistics }) => {
      const {
        "time/steps_per_second": _rate,
        "time/seconds": _time,
        ...rest
      } = statistics;
      return { step, rest };
    });
  assertEquals(rows(killed), rows(whole));
  assert(rows(whole).length > 300);
  const header = (dir: string) => read(dir, "progress.csv").split("\n")[0];
  assertEquals(header(killed), header(whole));
  for (const dir of [whole, killed]) {
    await Deno.remove(dir, { recursive: true });
  }
});
