import {
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { builtin } from "@bellman/files";
import * as fc from "fast-check";
import { deriveSeed, SeededRandom } from "../random.ts";
import { make, makeVec } from "../mod.ts";
import { cloneBatch } from "../spaces/batch.ts";
import { playVec } from "../testdata/play.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { ChainEnv } from "../toy/environments.ts";
import { FrameStack } from "../wrappers/frame_stack.ts";
import type { EnvSlice } from "./group_hosts.ts";
import { HostFailure } from "./host_failure.ts";
import { AsyncVecEnv } from "./async_vec_env.ts";
import type { RestartEvent } from "./restarts.ts";
import { EpisodeWatch } from "./testdata/episode_watch.ts";
import makeFragile from "./testdata/fragile_env.ts";
import makeNested from "./testdata/nested_env.ts";
import { fragile, once, ScriptedHosts } from "./testdata/scripted_hosts.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const GO = (n: number) => new Int32Array(n);

Deno.test("copies have the numbers of SyncVecEnv, in any groups", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }).chain((numEnvs) =>
        fc.record({
          numEnvs: fc.constant(numEnvs),
          groups: fc.integer({ min: 1, max: numEnvs }),
          seed: fc.nat(),
        })
      ),
      ({ numEnvs, groups, seed }) => {
        const env = new AsyncVecEnv(
          new ScriptedHosts(makeNested, { numEnvs, groups }),
        );
        const alone = makeNested({ first: 0, numEnvs });
        assertEquals(env.observationSpace, alone.observationSpace);
        for (const it of [{ seed }, {}]) {
          env.reset(it);
          alone.reset(it);
          assertEquals(playVec(env, 30, seed), playVec(alone, 30, seed));
        }
      },
    ),
    { numRuns: 25 },
  );
});

Deno.test("copies that stack frames say so wherever they are hosted", () => {
  const makeStacked = ({ numEnvs }: EnvSlice) =>
    new SyncVecEnv(
      Array.from(
        { length: numEnvs },
        () => () => new FrameStack(make("CartPole-v1"), { size: 3 }),
      ),
    );
  const stacked = new ScriptedHosts(makeStacked, { numEnvs: 4, groups: 2 });
  assertEquals(new AsyncVecEnv(stacked).stackedFrames, 3);
  const plain = new ScriptedHosts(makeNested, { numEnvs: 4, groups: 2 });
  assertEquals(new AsyncVecEnv(plain).stackedFrames, undefined);
});

const makeFlips = ({ numEnvs }: EnvSlice) =>
  makeVec("BitFlip-v0", { numEnvs, kwargs: { bits: 2 } });
const ACHIEVED = Uint8Array.of(0, 1, 1, 1, 0, 0);
const DESIRED = Uint8Array.of(0, 1, 0, 1, 1, 1);

Deno.test("goals are judged by the first host that is there, in one message", () => {
  const hosts = new ScriptedHosts(makeFlips, { numEnvs: 3, groups: 3 });
  const env = new AsyncVecEnv(hosts, { onRestart: () => {} });
  const judged = () => {
    hosts.log.length = 0;
    return [
      env.computeReward!(ACHIEVED, DESIRED),
      env.computeTerminated!(ACHIEVED, DESIRED),
    ];
  };
  const right = [Float64Array.of(0, -1, -1), Float64Array.of(1, 0, 0)];
  assertEquals(judged(), right);
  assertEquals(hosts.log, ["goals 0", "goals 0"]);
  env.reset({ seed: 0 });
  hosts.script = once(0, "goals");
  assertEquals(judged(), right);
  assertEquals(hosts.log, ["goals 0", "goals 1", "goals 1"]);
  const step = env.step(GO(3));
  assertEquals([...step.truncated], [1, 0, 0]);
  assertEquals(step.lost, [0]);
  assertEquals(judged(), right);
  assertEquals(hosts.log, ["goals 0", "goals 0"]);
  const none = new AsyncVecEnv(
    new ScriptedHosts(makeNested, { numEnvs: 2, groups: 1 }),
  );
  assertEquals([none.computeReward, none.computeTerminated], [
    undefined,
    undefined,
  ]);
});

Deno.test("where no host is left, one is replaced to judge goals, once", () => {
  for (const reason of ["exit", "timeout"] as const) {
    const hosts = new ScriptedHosts(makeFlips, { numEnvs: 2, groups: 1 });
    let restarts = 0;
    const env = new AsyncVecEnv(hosts, { onRestart: () => restarts++ });
    env.reset({ seed: 3 });
    const seen = cloneBatch(env.observations());
    hosts.script = once(0, "goals", reason);
    for (let times = 0; times < 3; times++) {
      const rewards = env.computeReward!(ACHIEVED, DESIRED);
      assertEquals(rewards, Float64Array.of(0, -1, -1));
    }
    assertEquals(restarts, 1);
    // The episodes end as they were seen last.
    assertEquals(cloneBatch(env.observations()), seen);
    const { truncated, lost, finalObservations } = env.step(GO(2));
    assertEquals(cloneBatch(finalObservations), seen);
    assertEquals([[...truncated], lost, restarts], [[1, 1], [0, 1], 1]);
    assertEquals([...env.step(GO(2)).truncated], [0, 0]);
  }
});

Deno.test("what a function of goals throws is thrown, and nothing is lost", () => {
  const hosts = new ScriptedHosts(makeFlips, { numEnvs: 2, groups: 1 });
  const env = new AsyncVecEnv(hosts);
  env.reset({ seed: 3 });
  hosts.script = once(0, "goals", "error");
  assertThrows(
    () => env.computeReward!(ACHIEVED, DESIRED),
    RangeError,
    "Cannot judge goals by computeReward: it threw RangeError: goals failed in life 1",
  );
  assertEquals(env.step(GO(2)).lost, undefined);
  hosts.script = ({ type }) => type === "goals" ? "exit" : undefined;
  const dying = new AsyncVecEnv(hosts, { restarts: 2, onRestart: () => {} });
  dying.reset();
  assertThrows(
    () => dying.computeReward!(ACHIEVED, DESIRED),
    Error,
    "it was restarted 2 times within 600 s",
  );
});

Deno.test("groups that judge goals do not go with those that do not", () => {
  const hosts = new ScriptedHosts(
    (range) => {
      const env = makeFlips(range);
      if (range.first > 0) Object.assign(env, { computeTerminated: undefined });
      return env;
    },
    { numEnvs: 2, groups: 2 },
  );
  assertThrows(
    () => new AsyncVecEnv(hosts),
    Error,
    "it has computeReward, other environments computeReward and computeTerminated",
  );
});

Deno.test("a group that fails in a step is cut off once and goes on anew", () => {
  for (const reason of ["error", "exit", "timeout"] as const) {
    const { hosts, env } = fragile();
    const watch = new EpisodeWatch(env.reset({ seed: 4 }), 5);
    for (let i = 0; i < 4; i++) assertEquals(watch.see(env.step(GO(5))), []);
    hosts.script = once(1, "step", reason);
    assertEquals(watch.see(env.step(GO(5))), [2, 3]);
    for (let i = 0; i < 20; i++) assertEquals(watch.see(env.step(GO(5))), []);
  }
});

Deno.test("fresh episodes have seeds that derive from those of the copies", () => {
  const { hosts, env } = fragile({ numEnvs: 2, groups: 1 });
  env.reset({ seed: [11, 12] });
  for (const restart of [1, 2]) {
    hosts.script = once(0, "step");
    const { observations } = env.step(GO(2));
    const alone = fragile({ numEnvs: 2, groups: 2 }).env;
    const seed = [deriveSeed(11, restart), deriveSeed(12, restart)];
    assertEquals(
      [...observations as Float64Array],
      [...alone.reset({ seed }) as Float64Array],
    );
  }
});

Deno.test("episodes of copies that keep their seeds begin again, and the step says whose", () => {
  const { hosts, env } = fragile({ numEnvs: 5, groups: 3 });
  const first = [...env.reset({ seed: 3, keepSeeds: true }) as Float64Array];
  const rows = (from: number, to: number) => first.slice(3 * from, 3 * to);
  for (let times = 0; times < 2; times++) {
    assertEquals(env.step(GO(5)).lost, undefined);
    hosts.script = once(1, "step", "exit");
    const { observations, lost } = env.step(GO(5));
    assertEquals(lost, [2, 3]);
    const seen = [...observations as Float64Array];
    assertEquals(seen.slice(6, 12), rows(2, 4));
    assertNotEquals(seen.slice(0, 6), rows(0, 2));
  }
  // Until the copies are seeded otherwise.
  env.reset({ seed: 3 });
  hosts.script = once(1, "step", "exit");
  const { observations } = env.step(GO(5));
  const seen = [...observations as Float64Array].slice(6, 12);
  assertNotEquals(seen, rows(2, 4));
});

Deno.test("hosts that all fail as they start are given up on, however long that takes", () => {
  const hosts = new ScriptedHosts(makeFragile, { numEnvs: 1, groups: 1 });
  const options = { restarts: 3, onRestart: () => {} };
  const env = new AsyncVecEnv(hosts, options);
  env.reset();
  const { now } = performance;
  let passed = 0;
  performance.now = () => now.call(performance) + passed;
  hosts.script = ({ type }) => {
    // Longer than the window.
    passed += 700_000;
    return type === "step" || type === "reset" ? "timeout" : undefined;
  };
  try {
    assertRefused({
      "Error: Cannot go on with environment 0: it was restarted 3 times in a row, and now it gave no answer":
        () => env.step(GO(1)),
    });
  } finally {
    performance.now = now;
  }
});

Deno.test("a host is replaced until one begins its episodes", () => {
  const { hosts, env } = fragile();
  const watch = new EpisodeWatch(env.reset({ seed: 0 }), 5);
  hosts.script = ({ group, type, life }) => {
    if (group !== 0) return undefined;
    if (life === 1) return type === "step" ? "exit" : undefined;
    if (life === 2) return type === "open" ? "timeout" : undefined;
    if (life === 3) return type === "reset" ? "error" : undefined;
  };
  hosts.log.length = 0;
  assertEquals(watch.see(env.step(GO(5))), [0, 1]);
  assertEquals(
    hosts.log.filter((line) => line.endsWith("0")),
    ["step 0", "open 0", "open 0", "reset 0", "open 0", "reset 0"],
  );
  assertEquals(watch.see(env.step(GO(5))), []);
});

Deno.test("restarts are told with the host's own error, then they are too many", () => {
  const events: RestartEvent[] = [];
  const { hosts, env } = fragile({
    restarts: 2,
    onRestart: (event) => events.push(event),
  });
  env.reset({ seed: 0 });
  for (let i = 0; i < 2; i++) {
    hosts.script = once(2, "step", "error");
    env.step(GO(5));
  }
  assertEquals(
    events.map((it) => [it.host, it.name, it.restarts, it.limit]),
    [[2, "environment 4", 1, 2], [2, "environment 4", 2, 2]],
  );
  const [{ error }] = events;
  assertEquals(
    [error.reason, error.thrown, error.message, error.stack],
    ["error", "RangeError", "step failed in life 1", "deep inside"],
  );
  // Another group has restarts of its own.
  hosts.script = once(0, "step");
  env.step(GO(5));
  hosts.script = once(2, "step", "error");
  const thrown = assertThrows(
    () => env.step(GO(5)),
    Error,
    "Cannot go on with environment 4: it was restarted 2 times within 600 s, and now it threw RangeError: step failed in life 3",
  );
  assertEquals((thrown.cause as Error).stack, "deep inside");
  // From here on it is broken, and says so.
  assertThrows(() => env.step(GO(5)), Error, "restarted 2 times");
  assertThrows(() => env.save(), Error, "restarted 2 times");
  env.close();
  assertEquals(hosts.isClosed, true);
});

/** Runs something while texts for stderr go elsewhere. */
function withStderr(write: (text: string) => void, run: () => void): void {
  const fs = builtin("node:fs"), { writeSync } = fs;
  const instead = (file: number, bytes: Uint8Array) => {
    assertEquals(file, 2);
    write(new TextDecoder().decode(bytes));
    return bytes.length;
  };
  fs.writeSync = instead as typeof writeSync;
  try {
    run();
  } finally {
    fs.writeSync = writeSync;
  }
}

Deno.test("a restart that cannot be shown goes on all the same", () => {
  const { hosts, env } = fragile({ onRestart: undefined });
  const watch = new EpisodeWatch(env.reset({ seed: 0 }), 5);
  hosts.script = once(1, "step");
  const shown: string[] = [];
  withStderr((text) => {
    shown.push(text);
    throw new Deno.errors.BrokenPipe("nobody reads it");
  }, () => assertEquals(watch.see(env.step(GO(5))), [2, 3]));
  assertEquals(shown.length, 1);
  assertMatch(shown[0], /^Warning: .*step failed in life 1.*\n$/);
});

Deno.test("a restart is shown in one line", () => {
  const { hosts, env } = fragile({ onRestart: undefined });
  env.reset({ seed: 0 });
  hosts.script = once(1, "step", "error");
  let shown = "";
  withStderr((text) => shown += text, () => env.step(GO(5)));
  assertMatch(shown, /^Warning: .*RangeError: step failed in life 1\n$/);
});

Deno.test("who throws over a restart ends it all, and is told so again", () => {
  const { hosts, env } = fragile({
    onRestart: () => {
      throw new TypeError("not with me");
    },
  });
  env.reset({ seed: 0 });
  env.step(GO(5));
  hosts.script = once(1, "step");
  for (
    const use of [
      () => env.step(GO(5)),
      () => env.step(GO(5)),
      () => env.save(),
    ]
  ) {
    assertThrows(use, TypeError, "not with me");
  }
  env.close();
});

Deno.test("errors of hosts are one line, whatever those wrote", () => {
  const fails = (hosts: ScriptedHosts, type: string) => {
    const { finish } = hosts;
    hosts.finish = (group) => {
      if (hosts.log.at(-1) !== `${type} ${group}`) {
        return finish.call(hosts, group);
      }
      throw new HostFailure("error", "\x1b[31mno ball\x1b[0m\n    at play.ts");
    };
    return hosts;
  };
  const hosts = new ScriptedHosts(makeFragile, { numEnvs: 1, groups: 1 });
  const { message } = assertThrows(
    () => new AsyncVecEnv(fails(hosts, "open")),
    Error,
  );
  assertEquals(message, "Cannot start environment 0: no ball");
});

Deno.test("a process that stood still waits again before it gives up", () => {
  const { hosts, env } = fragile({ stepTimeoutMs: 1_000 });
  const watch = new EpisodeWatch(env.reset({ seed: 0 }), 5);
  const { now } = performance, { waitFor } = hosts;
  let isAwake = false;
  hosts.script = () => isAwake ? undefined : "timeout";
  hosts.waitFor = (...args) => {
    if (performance.now !== now) {
      isAwake = true;
      return waitFor.apply(hosts, args);
    }
    // Stopped for an hour, as its hosts were.
    performance.now = () => now.call(performance) + 3_600_000;
    return false;
  };
  try {
    assertEquals(watch.see(env.step(GO(5))), []);
  } finally {
    performance.now = now;
  }
});

Deno.test("a reset gives its seeds to hosts that were replaced as well", () => {
  const { hosts, env } = fragile();
  const expected = [...fragile().env.reset({ seed: 6 }) as Float64Array];
  hosts.script = once(1, "reset");
  assertEquals([...env.reset({ seed: 6 }) as Float64Array], expected);
  // Lost between two steps, which only the snapshot finds out.
  hosts.script = once(0, "save");
  env.save();
  assertEquals([...env.reset({ seed: 6 }) as Float64Array], expected);
  assertEquals([...env.step(GO(5)).truncated], [0, 0, 0, 0, 0]);
});

Deno.test("what a host throws in the first reset reaches the caller at once", () => {
  const events: RestartEvent[] = [];
  const { hosts, env } = fragile({ onRestart: (it) => events.push(it) });
  hosts.script = once(1, "reset", "error");
  assertThrows(() => env.reset(), RangeError, "reset failed in life 1");
  assertEquals(events, []);
  // It may be a matter of that one time; from then on hosts are replaced.
  env.reset({ seed: 6 });
  hosts.script = once(1, "reset", "error");
  env.reset({ seed: 6 });
  assertEquals(events.length, 1);
});

Deno.test("a host that cannot be started is one clear error, and none is left", () => {
  const hosts = new ScriptedHosts(makeFragile, { numEnvs: 2, groups: 2 });
  hosts.script = once(1, "open", "error");
  assertRefused({
    "RangeError: Cannot start environment 1: open failed in life 1": () =>
      new AsyncVecEnv(hosts),
  });
  assertEquals(hosts.isClosed, true);
  const odd = new ScriptedHosts(
    ({ first, numEnvs }) =>
      new SyncVecEnv(
        Array(numEnvs).fill(() => new ChainEnv({ length: 3 + first })),
      ),
    { numEnvs: 3, groups: 2 },
  );
  assertRefused({
    "Error: Cannot start environment 2: its observations are a whole number from 0 to 5, those of other environments a whole number from 0 to 3":
      () => new AsyncVecEnv(odd),
  });
});

Deno.test("bad input changes nothing", () => {
  const { hosts, env } = fragile();
  assertThrows(() => env.step(GO(5)), Error, "call reset first");
  env.reset({ seed: 0 });
  const before = env.save();
  hosts.log.length = 0;
  assertRefused({
    "RangeError: Cannot step 5 copies with 4": () => env.step(GO(4)),
    "RangeError: Cannot take action 99": () =>
      env.step(Int32Array.of(0, 0, 99, 0, 0)),
    "RangeError: Cannot seed": () => env.reset({ seed: -1 }),
    "RangeError: Cannot seed 5": () => env.reset({ seed: [1] }),
  });
  assertEquals(hosts.log, []);
  assertEquals(env.save(), before);
  env.close();
  env.close();
  assertRefused({
    "TypeError: Cannot step environments that were closed": () =>
      env.step(GO(5)),
  });
  for (
    const [name, value] of [
      ["stepTimeoutMs", 0],
      ["startTimeoutMs", NaN],
      ["restarts", -1],
    ] as const
  ) {
    assertRefused({
      [`RangeError: Cannot host environments with ${name} ${value}`]: () =>
        fragile({ [name]: value }),
    });
  }
});

Deno.test("steps reuse shared arrays", () => {
  const { env } = fragile();
  env.reset({ seed: 0 });
  const first = { ...env.step(GO(5)) }, second = env.step(GO(5));
  for (const key of ["observations", "rewards", "truncated"] as const) {
    assertStrictEquals(second[key], first[key]);
    const { buffer } = second[key] as Float64Array;
    assertEquals(buffer instanceof SharedArrayBuffer, true);
  }
  assertStrictEquals(env.observations(), second.observations);
});

Deno.test("episodes that the hosts record are told of, by copy", () => {
  const make = ({ numEnvs }: { numEnvs: number }) =>
    Object.assign(
      new SyncVecEnv(Array(numEnvs).fill(() => new ChainEnv())),
      { marks: 0 },
    );
  const recording = (range: { numEnvs: number }) => {
    const env = make(range), step = env.step.bind(env);
    env.step = (actions) => ({
      ...step(actions),
      episodes: ++env.marks === 2
        ? [{ env: 1, return: 5, length: 2, terminated: true }]
        : [],
    });
    return env;
  };
  const env = new AsyncVecEnv(
    new ScriptedHosts(recording, { numEnvs: 4, groups: 2 }),
  );
  env.reset({ seed: 0 });
  assertEquals(env.step(GO(4)).episodes, []);
  assertEquals(env.step(GO(4)).episodes?.map((it) => it.env), [1, 3]);
  const { env: silent } = fragile();
  silent.reset({ seed: 0 });
  assertEquals(silent.step(GO(5)).episodes, undefined);
});

/** A long run in which anything may fail at any time. */
function stormyRun(seed: number, failures: number): number[] {
  const { hosts, env } = fragile({ numEnvs: 7, groups: 3 });
  const random = new SeededRandom(seed);
  const watch = new EpisodeWatch(env.reset({ seed }), 7);
  hosts.script = ({ type }) => {
    if (type === "open" || type === "reset" || type === "step") {
      if (random.uniform() < failures) {
        return (["error", "exit", "timeout"] as const)[random.integer(3)];
      }
    }
  };
  for (let i = 0; i < 300; i++) watch.see(env.step(GO(7)));
  return [watch.broken, watch.ended];
}

Deno.test("whatever fails, no episode is lost, joined or told of twice", () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const [broken, ended] = stormyRun(seed, 0.1);
      assertEquals(broken > 50 && ended > 10, true);
      assertEquals([broken, ended], stormyRun(seed, 0.1));
      // Without failures each copy ends an episode every ninth step.
      assertEquals(stormyRun(seed, 0), [0, 7 * Math.floor(300 / 9)]);
    }),
    { numRuns: 10 },
  );
});
