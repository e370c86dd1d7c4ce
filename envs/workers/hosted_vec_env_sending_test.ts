import { assertEquals, assertThrows } from "@std/assert";
import {
  allocateBatch,
  cloneBatch,
  readRow,
  writeRow,
} from "../spaces/batch.ts";
import { SeededRandom } from "../random.ts";
import { randomActions } from "../testdata/play.ts";
import { HostedVecEnv } from "./hosted_vec_env.ts";
import { EpisodeWatch } from "./testdata/episode_watch.ts";
import makeNested from "./testdata/nested_env.ts";
import {
  fragile,
  once,
  type Script,
  ScriptedHosts,
} from "./testdata/scripted_hosts.ts";

const GO = (n: number) => new Int32Array(n);

Deno.test("each copy has the same numbers whatever group is ready first", () => {
  const collect = (order: (i: number) => number[], k: number) => {
    const { hosts, env } = fragile({ numEnvs: 6, groups: 3 });
    const seen: number[][][] = Array.from({ length: 6 }, () => []);
    env.reset({ seed: 3 });
    env.send(GO(6));
    for (let i = 0; i < 60; i++) {
      hosts.readyFirst = order(i);
      const { copies, observations, rewards } = env.recv(k);
      assertEquals(copies.length, k);
      copies.forEach((copy, row) => {
        const at = 3 * row, all = observations as Float64Array;
        seen[copy].push([...all.slice(at, at + 3), rewards[row]]);
      });
      env.send(GO(k), copies);
    }
    return seen;
  };
  const together = collect(() => [], 6);
  for (
    const apart of [
      collect((i) => [i % 3], 2),
      collect((i) => [2, i % 2], 2),
      collect((i) => [2 - i % 3], 4),
    ]
  ) {
    apart.forEach((steps, copy) => {
      const length = Math.min(steps.length, 60);
      assertEquals(steps.slice(0, length), together[copy].slice(0, length));
    });
  }
});

Deno.test("a group that fails on its way is received as cut off", () => {
  const { hosts, env } = fragile({ numEnvs: 6, groups: 3 });
  const watch = new EpisodeWatch(env.reset({ seed: 3 }), 6);
  env.send(GO(6));
  hosts.script = once(2, "step");
  hosts.readyFirst = [2];
  const first = env.recv(2);
  assertEquals([...first.copies], [4, 5]);
  assertEquals(watch.see(first, first.copies), [4, 5]);
  env.send(GO(2), first.copies);
  for (let i = 0; i < 3; i++) {
    const ready = env.recv(2);
    assertEquals(watch.see(ready, ready.copies), []);
  }
  // Lost in a snapshot, and received as such.
  hosts.script = once(0, "save");
  env.save();
  env.send(GO(6));
  const all = env.recv(6);
  assertEquals(watch.see(all, all.copies), [0, 1]);
});

/** Copies of which those of the last group were lost in a step, and are replaced aside. */
function replacing(script: Script = () => undefined) {
  const made = fragile({ numEnvs: 6, groups: 3, replacesAside: true });
  const { hosts, env } = made, lose = once(2, "step");
  env.reset({ seed: 3 });
  env.send(GO(6));
  hosts.script = (asked) => lose(asked) ?? script(asked);
  hosts.readyFirst = [2];
  const { copies, truncated } = env.recv(2);
  assertEquals([[...copies], [...truncated]], [[4, 5], [1, 1]]);
  env.recv(4);
  hosts.late = [2];
  return made;
}

Deno.test("with replacesAside, the other copies go on while hosts start", () => {
  const { hosts, env } = replacing();
  const others = [0, 1, 2, 3], all = [...others, 4, 5];
  for (let i = 0; i < 5; i++) {
    assertEquals(env.present(), others);
    env.send(GO(4), others);
    assertEquals([...env.recv(4).copies], others);
  }
  hosts.late = [];
  // It has made its environments, and begins their episodes.
  assertEquals(env.present(), others);
  assertEquals(env.present(), all);
  // The third number of an observation counts the steps of the episode.
  const rows = env.observations() as Float64Array;
  assertEquals([rows[3 * 4 + 2], rows[3 * 5 + 2]], [0, 0]);
  env.send(GO(6));
  assertEquals([...env.recv(6).truncated], [0, 0, 0, 0, 0, 0]);
});

Deno.test("with replacesAside, a host that fails as it starts is replaced in its turn", () => {
  for (const type of ["open", "reset"] as const) {
    const lives: number[] = [];
    const { hosts, env } = replacing((asked) => {
      if (asked.group !== 2 || asked.type !== type) return undefined;
      lives.push(asked.life);
      return asked.life < 4 ? "exit" : undefined;
    });
    hosts.late = [];
    for (let i = 0; i < 20; i++) env.present();
    assertEquals(env.present(), [0, 1, 2, 3, 4, 5]);
    assertEquals(lives, [2, 3, 4]);
  }
});

Deno.test("with replacesAside, all that needs a copy waits for its host", () => {
  const uses: ((env: HostedVecEnv) => unknown)[] = [
    (env) => env.send(GO(2), [4, 5]),
    (env) => env.step(GO(6)),
    (env) => env.reset(),
    (env) => env.save(),
  ];
  for (const use of uses) {
    const { env } = replacing();
    use(env);
    assertEquals(env.present(), [0, 1, 2, 3, 4, 5]);
  }
  const { env } = replacing();
  env.send(GO(4), [0, 1, 2, 3]);
  assertThrows(() => env.step(GO(6)), TypeError, "4 are on their way");
});

Deno.test("sending and receiving what does not fit is refused", () => {
  const { env } = fragile({ numEnvs: 6, groups: 3 });
  assertThrows(() => env.send(GO(6)), Error, "call reset first");
  env.reset({ seed: 0 });
  const refused: [() => unknown, string][] = [
    [
      () => env.recv(1),
      "Cannot receive 1 copy as 0 are on their way",
    ],
    [
      () => env.send(GO(1), [0]),
      "Cannot send actions to 1 copy without copy 1: expected whole groups",
    ],
    [() => env.send(GO(2), [0, 0]), "Cannot send actions to copy 0"],
    [() => env.send(GO(2), [0, 6]), "Cannot send actions to copy 6"],
    [() => env.send(GO(2), [0.5, 1]), "Cannot send actions to copy 0.5"],
    [() => env.send(GO(3), [0, 1]), "Cannot step 2 copies with 3"],
  ];
  for (const [act, message] of refused) {
    assertThrows(act, RangeError, message);
  }
  env.send(GO(2), [3, 2]);
  assertThrows(
    () => env.send(GO(2), [2, 3]),
    RangeError,
    "Cannot send actions to copy 2 as it has not told of those before: call recv first",
  );
  assertThrows(() => env.recv(3), RangeError, "as 2 are on their way");
  for (
    const act of [
      () => env.step(GO(6)),
      () => env.reset(),
      () => env.save(),
    ]
  ) {
    assertThrows(act, TypeError, "while 2 are on their way: call recv first");
  }
  assertEquals([...env.recv(1).copies], [2, 3]);
  env.step(GO(6));
});

Deno.test("actions go to the copies that they are sent to", () => {
  const env = new HostedVecEnv(
    new ScriptedHosts(makeNested, { numEnvs: 4, groups: 2 }),
  );
  const alone = makeNested({ first: 0, numEnvs: 4 });
  env.reset({ seed: 1 });
  alone.reset({ seed: 1 });
  const actions = randomActions(env, new SeededRandom(5));
  const shuffled = allocateBatch(env.actionSpace, 4), order = [2, 3, 1, 0];
  order.forEach((copy, row) => {
    const action = readRow(env.actionSpace, { batch: actions, row: copy });
    writeRow(env.actionSpace, action, { batch: shuffled, row });
  });
  env.send(shuffled, order);
  const { copies, rewards } = env.recv(4);
  const expected = alone.step(actions);
  copies.forEach((copy, row) =>
    assertEquals(rewards[row], expected.rewards[copy])
  );
  assertEquals(cloneBatch(env.observations()), expected.observations);
});
