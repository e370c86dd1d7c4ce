/** Wrong data ends the run: no host is replaced over it, and nothing is stepped on. */
import { assertEquals, assertThrows } from "@std/assert";
import { WRONG_ENV } from "../testdata/wrong_env.ts";
import type { EnvSlice } from "./group_hosts.ts";
import { AsyncVecEnv } from "./async_vec_env.ts";
import { SubprocessVecEnv } from "./processes/subprocess_vec_env.ts";
import { ScriptedHosts } from "./testdata/scripted_hosts.ts";
import makeWrong from "./testdata/wrong_vec_env.ts";
import { WorkerVecEnv } from "./threads/worker_vec_env.ts";
import type { GroupSource } from "./group_source.ts";

const imports = [import.meta.resolve("../testdata/wrong_env.ts")];

const OPTIONS = {
  numEnvs: 3,
  onRestart: () => {
    throw new Error("a host was replaced");
  },
};

const HOSTS: Record<string, (source: GroupSource) => AsyncVecEnv> = {
  workers: (source) => new WorkerVecEnv(source, { ...OPTIONS, workers: 2 }),
  processes: (source) =>
    new SubprocessVecEnv(source, { ...OPTIONS, processes: 2 }),
};

const CASES: [where: string, kind: string, says: string][] = [
  ["workers", "rewardNaN", "the reward of Wrong-v0, copy 0, at step 5"],
  ["workers", "asyncOnce", "it is a promise"],
  ["workers", "resetAsync", "it is a promise"],
  ["workers", "savesMap", "snapshot.env.seen of Wrong-v0, copy 0: it is a Map"],
  ["processes", "seenShort", "the observation of Wrong-v0, copy 0, at step 5"],
  [
    "processes",
    "savesClass",
    "snapshot.env.own of Wrong-v0, copy 0: it is a Counter",
  ],
];

/** What the second group, of one of the three copies, can return. */
const PARTS: [parts: Record<string, unknown>, says: string][] = [
  [{ observations: new Float32Array(3) }, "observations of CartPole-v1"],
  [{ rewards: [1] }, "rewards of CartPole-v1: it is a list of 1"],
  [{ rewards: Float64Array.of(NaN) }, "CartPole-v1, copy 2: it is NaN"],
  [{ terminated: Float64Array.of(0) }, "terminated of CartPole-v1"],
  [{ truncated: undefined }, "truncated of CartPole-v1: it is undefined"],
  [
    {
      truncated: Uint8Array.of(1),
      finalObservations: Float32Array.of(0, 0, NaN, 0),
    },
    "final observation[2] of CartPole-v1, copy 2: it is NaN",
  ],
  [
    { truncated: Uint8Array.of(1), finalObservations: new Float32Array(3) },
    "finalObservations of CartPole-v1: it is a Float32Array of 3",
  ],
];

/** What the second group can return of masks, where the first one masks. */
const MASKS: [parts: Record<string, unknown>, says: string][] = [
  [{ actionMasks: undefined }, "it is undefined, expected a Uint8Array of 2"],
  [{ actionMasks: [1, 1] }, "actionMasks of CartPole-v1: it is a list of 2"],
  [
    { truncated: Uint8Array.of(1), finalActionMasks: new Uint8Array(1) },
    "finalActionMasks of CartPole-v1: it is a Uint8Array of 1",
  ],
];

for (const [parts, says] of MASKS) {
  Deno.test(`steps of other masks are refused: ${says}`, () => {
    const make = (range: EnvSlice) =>
      makeWrong({ ...range, parts, masked: true });
    const hosts = new ScriptedHosts(make, { numEnvs: 3, groups: 2 });
    assertThrows(() => play(new AsyncVecEnv(hosts, OPTIONS)), TypeError, says);
  });
}

Deno.test("groups of which only some mask are refused", () => {
  const make = (range: EnvSlice) =>
    makeWrong({ ...range, parts: {}, masked: range.first === 0 });
  const hosts = new ScriptedHosts(make, { numEnvs: 3, groups: 2 });
  assertThrows(
    () => new AsyncVecEnv(hosts, OPTIONS),
    Error,
    "Cannot start environment 2 of CartPole-v1: it masks none of its actions, other environments some",
  );
});

function play(env: AsyncVecEnv): void {
  env.reset({ seed: 0 });
  for (let t = 0; t < 6; t++) env.step(new Int32Array(3));
  env.save();
}

for (const [where, kind, says] of CASES) {
  Deno.test(`${where}: ${kind} ends the run`, () => {
    const env = HOSTS[where]({ id: WRONG_ENV, imports, kwargs: { kind } });
    try {
      const { message } = assertThrows(() => play(env), TypeError, says);
      assertEquals(message.startsWith("Cannot use "), true);
      if (kind.startsWith("saves") || kind.startsWith("reset")) return;
      assertThrows(() => env.step(new Int32Array(3)), TypeError, message);
    } finally {
      env.close();
    }
  });
}

for (const [parts, says] of PARTS) {
  Deno.test(`steps of other arrays are refused: ${Object.keys(parts)}, ${says}`, () => {
    const make = (range: EnvSlice) => makeWrong({ ...range, parts });
    const hosts = new ScriptedHosts(make, { numEnvs: 3, groups: 2 });
    assertThrows(() => play(new AsyncVecEnv(hosts, OPTIONS)), TypeError, says);
  });
}

Deno.test("final rows of episodes that go on may hold anything", () => {
  const make = (range: EnvSlice) =>
    makeWrong({
      ...range,
      parts: { finalObservations: new Float32Array(4).fill(NaN) },
    });
  const hosts = new ScriptedHosts(make, { numEnvs: 3, groups: 2 });
  const env = new AsyncVecEnv(hosts, OPTIONS);
  env.reset({ seed: 0 });
  for (let t = 0; t < 6; t++) env.step(new Int32Array(3));
});
