import { assert, assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CheckpointStore } from "./checkpoint_store.ts";
import { bytesRead } from "./testdata/bytes_read.ts";
import { ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";
import { mendBest } from "./training_state.ts";
import type { StateTree } from "@bellman/types";

setFlagsFromString("--expose-gc");
const gc: () => void = runInNewContext("gc");

Deno.test("rows of checkpoints that are gone are neither kept nor remembered", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const found: WeakRef<Int32Array>[] = [];
  let kept: readonly unknown[] = [], alive = NaN;
  const algorithm = Object.assign(new ToyAlgorithm(4), {
    rows: {
      of() {
        const rows = new Int32Array(100);
        found.push(new WeakRef(rows));
        return rows;
      },
      keep: (rows: readonly unknown[]) => void (kept = rows),
    },
  });
  await train(algorithm, new ToyEnv(4), {
    totalTimesteps: 100,
    checkpoints: { store, everyTimesteps: 4, keepLast: 2 },
    callbacks: [{
      async onCheckpoint({ step }) {
        if (step !== 96) return;
        await new Promise((done) => setTimeout(done));
        gc();
        alive = found.filter((it) => it.deref() !== undefined).length;
      },
    }],
  });
  assertEquals([store.list().checkpoints.length, kept.length], [2, 2]);
  assertEquals([found.length, alive], [26, 2]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test({
  name:
    "a resume finds the rows of the other checkpoints in one reading of each",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const dir = await Deno.makeTempDir();
    const store = new CheckpointStore(dir), size = 2 ** 22;
    let kept: readonly unknown[] = [];
    const run = (totalTimesteps: number, resumeFrom?: StateTree) => {
      const inner = new ToyAlgorithm(4), large = new Uint8Array(size);
      const algorithm = Object.assign(inner, {
        save: () => ({
          ...ToyAlgorithm.prototype.save.call(inner) as object,
          large,
        }),
        rows: {
          of: (state: StateTree) => ({ ...state as object, large: null }),
          keep: (rows: readonly unknown[]) => void (kept = rows),
        },
      });
      return train(algorithm, new ToyEnv(4), {
        totalTimesteps,
        evaluation: { env: new ToyEnv(4), everyTimesteps: 40, episodes: 1 },
        checkpoints: { store, everyTimesteps: 20, keepLast: 3 },
        callbacks: [{ onStart: () => void (before = bytesRead()) }],
        resumeFrom,
      });
    };
    let before = NaN;
    await run(100);
    const { checkpoints, best } = store.list();
    assertEquals(best?.step, 100);
    // All but the one that is loaded, and the best one.
    const others = checkpoints.length;
    const { state } = store.load("latest");
    await run(100, state);
    const read = (bytesRead() - before) / size;
    assert(read > others - 0.5 && read < others + 0.5, `${read} of ${others}`);
    assertEquals(kept.length, others + 1);
    await Deno.remove(dir, { recursive: true });
  },
});

Deno.test("the rows of a best checkpoint of a later step stay where none is known", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir), found: string[] = [];
  store.save(10, { at: 10 });
  store.save(50, { at: 50 }, { best: true });
  const mend = (bestStep?: number) =>
    mendBest(store, {
      step: 10,
      bestStep,
      onWarning: (line) => assertEquals(line, ""),
      onSound: ({ state }) => void found.push(JSON.stringify(state)),
    });
  mend();
  assertEquals(found, ['{"at":50}']);
  await Deno.remove(`${dir}/best.safetensors`);
  mend();
  assertEquals(found.length, 1);
  await Deno.remove(dir, { recursive: true });
});
