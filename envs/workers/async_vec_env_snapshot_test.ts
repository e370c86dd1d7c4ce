import { assertEquals, assertThrows } from "@std/assert";
import { cloneBatch, readRow } from "../spaces/batch.ts";
import type { AsyncVecEnv } from "./async_vec_env.ts";
import { EpisodeWatch } from "./testdata/episode_watch.ts";
import { fragile, once } from "./testdata/scripted_hosts.ts";

const GO = (n: number) => new Int32Array(n);

/** What comes of steps that break nothing, copied. */
function goOn(env: AsyncVecEnv, steps: number): unknown[] {
  return Array.from({ length: steps }, () => {
    const step = env.step(GO(env.numEnvs));
    const { observations, finalObservations, rewards, terminated, truncated } =
      step;
    const ended = [...rewards.keys()].filter((row) =>
      terminated[row] || truncated[row]
    );
    return {
      ...cloneBatch({ observations, rewards, terminated, truncated }) as object,
      actionMasks: step.actionMasks!.slice(),
      finals: ended.map((row) =>
        readRow(env.observationSpace, { batch: finalObservations, row })
      ),
    };
  });
}

Deno.test("a group lost in a snapshot is cut off by the next step", () => {
  const { hosts, env } = fragile();
  const watch = new EpisodeWatch(env.reset({ seed: 6 }), 5);
  watch.see(env.step(GO(5)));
  hosts.script = once(0, "save");
  const snapshot = env.save();
  const other = fragile().env;
  other.load(snapshot);
  assertEquals(
    cloneBatch(other.observations()),
    cloneBatch(env.observations()),
  );
  assertEquals(other.actionMasks?.slice(), env.actionMasks!.slice());
  const expected = goOn(other, 20);
  assertEquals(watch.see(env.step(GO(5))), [0, 1]);
  assertEquals(watch.see(env.step(GO(5))), []);
  env.load(snapshot);
  assertEquals(goOn(env, 20), expected);
});

Deno.test("a snapshot restores exactly what happens, restarts included", () => {
  const { hosts, env } = fragile();
  env.reset({ seed: 9 });
  env.step(GO(5));
  hosts.script = once(1, "step");
  env.step(GO(5));
  const snapshot = env.save();
  const live = ({ hosts, env }: ReturnType<typeof fragile>) => {
    const steps = goOn(env, 12);
    hosts.script = once(1, "step");
    return [...steps, ...goOn(env, 12), cloneBatch(env.reset())];
  };
  const expected = live({ hosts, env });
  env.load(snapshot);
  assertEquals(live({ hosts, env }), expected);
  const other = fragile();
  // A host that dies while it is restored is replaced and restored.
  other.hosts.script = once(2, "load");
  other.env.load(snapshot);
  assertEquals(live(other), expected);
});

Deno.test("a group that is silent in a restore is lost, and not asked again", () => {
  const { hosts, env } = fragile({ restarts: 1 });
  const watch = new EpisodeWatch(env.reset({ seed: 6 }), 5);
  watch.see(env.step(GO(5)));
  const snapshot = env.save();
  hosts.script = ({ group, type }) =>
    group === 1 && type === "load" ? "timeout" : undefined;
  hosts.log.length = 0;
  env.load(snapshot);
  assertEquals(hosts.log, ["load 0", "load 1", "load 2"]);
  assertEquals(watch.see(env.step(GO(5))), [2, 3]);
  assertEquals(watch.see(env.step(GO(5))), []);
});

Deno.test("a restore may take as many time-outs as its hosts say", () => {
  const { hosts, env } = fragile({ stepTimeoutMs: 1_000 });
  env.reset({ seed: 6 });
  const snapshot = env.save(), { waitFor } = hosts;
  const waits: number[] = [];
  hosts.waitFor = (groups, timeoutMs) => {
    waits.push(timeoutMs);
    return waitFor.call(hosts, groups, timeoutMs);
  };
  const patience = (group: number, { type }: { type: string }): number =>
    type === "load" ? 3 + group : 1;
  Object.assign(hosts, { patience });
  env.load(snapshot);
  env.step(GO(5));
  assertEquals(waits, [5_000, 1_000]);
});

Deno.test("what a copy throws in snapshot and restore reaches the caller", () => {
  const { hosts, env } = fragile();
  env.reset({ seed: 0 });
  const snapshot = env.save();
  for (const type of ["save", "load"] as const) {
    hosts.script = once(1, type, "error");
    assertThrows(
      () => type === "save" ? env.save() : env.load(snapshot),
      RangeError,
      `${type} failed in life 1`,
    );
    // A snapshot changes nothing; half a restore leaves nothing to go on with.
    if (type === "load") {
      assertThrows(() => env.step(GO(5)), Error, "call reset first");
      env.load(snapshot);
    }
    assertEquals([...env.step(GO(5)).truncated], [0, 0, 0, 0, 0]);
    env.load(snapshot);
  }
  assertThrows(
    () => fragile({ groups: 2 }).env.load(snapshot),
    RangeError,
    "Cannot restore 2 groups of environments from a snapshot of 3",
  );
  assertThrows(() => env.load(null), TypeError, "has no 'fleet'");
  // What is refused at once changes nothing.
  assertEquals([...env.step(GO(5)).truncated], [0, 0, 0, 0, 0]);
});

Deno.test("after half a restore every episode begins anew", () => {
  const { hosts, env } = fragile({ numEnvs: 3, groups: 3 });
  env.reset({ seed: 6 });
  const snapshot = env.save();
  for (let i = 0; i < 5; i++) env.step(GO(3));
  // One has been restored by then, one threw, one died and was replaced.
  hosts.script = ({ group, type, life }) => {
    if (type !== "load" || life > 1) return;
    return group === 1 ? "error" : group === 2 ? "exit" : undefined;
  };
  assertThrows(() => env.load(snapshot), RangeError, "load failed");
  const watch = new EpisodeWatch(env.reset(), 3);
  assertEquals(watch.see(env.step(GO(3))), []);
});

Deno.test("a group that is silent in a snapshot is lost, though another one throws", () => {
  const { hosts, env } = fragile({ numEnvs: 2, groups: 2 });
  env.reset({ seed: 0 });
  hosts.script = ({ group, type, life }) =>
    type === "save" && life === 1
      ? group === 0 ? "error" : "timeout"
      : undefined;
  assertThrows(() => env.save(), Error, "save failed");
  const { truncated } = env.step(new Int32Array(2));
  assertEquals([...truncated], [0, 1]);
  env.close();
});
