import { RandomStream, seedWords } from "@bellman/random";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { Bandit } from "../bandit.ts";
import { softmax, thompson } from "../explore/rules.ts";
import { arms } from "../models/arms.ts";
import { replay } from "./replay.ts";

function makeLog(rows: number) {
  const random = new RandomStream(seedWords(0));
  return Array.from({ length: rows }, () => {
    const action = random.uniform() < 0.5 ? "a" : "b";
    const chance = action === "a" ? 0.2 : 0.8;
    const reward = Number(random.uniform() < chance);
    return { context: undefined, action, propensity: 0.5, reward };
  });
}

function make() {
  return new Bandit<string>({
    actions: ["a", "b"],
    model: arms({ beta: true }),
    explore: thompson(),
  });
}

Deno.test("a bandit learns from the rows that it chooses", () => {
  const bandit = make(), log = makeLog(2000);
  const { value, matched, standardError } = replay(log, bandit);
  assertAlmostEquals(value!, 0.8, 4 * standardError!);
  assertAlmostEquals(matched / log.length, 0.5, 0.05);
  assert(bandit.chances()[1] > 0.99);
  assertEquals(replay(log, make(), { seed: 0 }), replay(log, make()));
});

Deno.test("a fixed policy's replay is the mean of its rows", () => {
  const log = makeLog(4000);
  const fixed = new Bandit<string>({
    actions: ["a", "b"],
    model: arms(),
    explore: softmax(1e9),
  });
  // Both actions are equally likely.
  const { value, standardError } = replay(log, fixed);
  assertAlmostEquals(value!, 0.5, 4 * standardError!);
});

Deno.test("rows without reward are counted; none that match have no value", () => {
  const log = makeLog(20).map((it) => ({ ...it, reward: undefined }));
  assertEquals(replay(log, make()), {
    value: null,
    standardError: null,
    matched: 0,
    withoutReward: 20,
  });
});

Deno.test("a log with unequal chances is refused, by row", () => {
  const log = makeLog(3).map((it, i) =>
    i === 2 ? { ...it, propensity: 0.9 } : it
  );
  assertThrows(
    () => replay(log, make()),
    RangeError,
    "replay row 2 with propensity 0.9: expected 1/2",
  );
});

Deno.test("a reward that is no number is refused, by row; null is none", () => {
  const [row] = makeLog(1);
  const wrong = [row, { ...row, reward: NaN }];
  assertThrows(() => replay(wrong, make()), RangeError, "replay row 1");
  const none = [{ ...row, reward: null as never }];
  assertEquals(replay(none, make()).withoutReward, 1);
  const unknown = [row, { ...row, action: "c" }];
  assertThrows(
    () => replay(unknown, make()),
    RangeError,
    "row 1 with action c",
  );
  assertThrows(
    () => replay([row], make(), { sede: 1 } as never),
    TypeError,
    "did you mean 'seed'?",
  );
});
