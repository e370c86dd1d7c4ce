import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  compare,
  differing,
  flatten,
  matcherOf,
  sortBy,
  valueText,
} from "./filters.ts";

const RUN = {
  text: "runs/first a2c CartPole-v1 running",
  settings: {
    env: "CartPole-v1",
    gamma: 0.99,
    numEnvs: 8,
    normalize: false,
    "envKwargs.gravity": -5,
    note: "a b",
    workers: null,
  },
};

const FILTERS: Readonly<Record<string, boolean>> = {
  "": true,
  "cartpole": true,
  "FIRST running": true,
  "first killed": false,
  '"first a2c"': true,
  '"a2c first"': false,
  "gamma=0.99": true,
  "gamma=.990": true,
  "gamma=0.9": false,
  "gamma!=0.9": true,
  "gamma!=0.99": false,
  "env=Cart*": true,
  "env=Cart": false,
  "env=cartpole-V1": true,
  "env=Cart?ole-v1": false,
  "normalize=false": true,
  "workers=null": true,
  "workers=": false,
  "nothing=1": false,
  "nothing!=1": true,
  "numEnvs>=8": true,
  "numEnvs>8": false,
  "numEnvs<=8 numEnvs<9": true,
  "numEnvs>": false,
  "env>1": false,
  "envKwargs.gravity=-5": true,
  'note="a b"': true,
  "gamma=0.99 first env=Acrobot*": false,
};

for (const [filter, expected] of Object.entries(FILTERS)) {
  Deno.test(`the filter '${filter}' ${expected ? "keeps" : "drops"} a run`, () => {
    assertEquals(matcherOf(filter)(RUN), expected);
  });
}

Deno.test("any text is a filter, and one of a run's own values keeps it", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (filter, value) => {
    matcherOf(filter)(RUN);
    const wanted = value.replaceAll(/["\s*]/g, "");
    const run = { text: "", settings: { key: wanted } };
    assert(matcherOf(`key=${wanted}`)(run));
    assert(!matcherOf(`key!=${wanted}`)(run));
  }));
});

Deno.test("settings within others have dotted names", () => {
  const settings = { a: 1, b: { c: [1], d: { e: null } }, f: {} };
  assertEquals(flatten(settings), { a: 1, "b.c": [1], "b.d.e": null, f: {} });
  assertEquals(["x", [1], null, undefined].map(valueText), [
    "x",
    "[1]",
    "null",
    "null",
  ]);
});

Deno.test("settings differ where runs of an algorithm do in an environment", () => {
  const a = { algorithm: "a2c", env: "A", gamma: 0.9, seed: 0, clip: null };
  assertEquals(differing([a, { ...a, seed: 1 }]), ["seed"]);
  assertEquals(differing([a, { ...a, "o.own": 1 }]), ["o.own"]);
  assertEquals(differing([a, { ...a, own: 1 }]), []);
  assertEquals(differing([a, { ...a, clip: 1 }]), ["clip"]);
  // What defaults and presets differ in, and where code lies.
  assertEquals(differing([a, { algorithm: "sac", env: "A", gamma: 1 }]), []);
  assertEquals(differing([a, { ...a, env: "B", gamma: 1 }]), []);
  assertEquals(differing([a, { ...a, envModules: ["a.ts"] }]), []);
});

Deno.test("sorting puts what is missing last in both directions", () => {
  const values = [3, null, "b", 20, undefined, "a10", "a9", NaN];
  const shown = (descending: boolean) =>
    sortBy(values, (it) => it, { descending });
  assertEquals(shown(false), [3, 20, "a9", "a10", "b", null, undefined, NaN]);
  assertEquals(shown(true), ["b", "a10", "a9", 20, 3, null, undefined, NaN]);
  const any = fc.oneof(fc.integer(), fc.string(), fc.constant(null));
  fc.assert(fc.property(any, any, (a, b) => {
    assertEquals(Math.sign(compare(a, b)), -Math.sign(compare(b, a)) || 0);
  }));
});
