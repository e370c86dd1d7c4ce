import type { Decision } from "../bandit.ts";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { formatJsonl, parseJsonl } from "./jsonl.ts";

const decisions = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1 }),
    context: fc.jsonValue({ noUnicodeString: false } as never),
    action: fc.oneof(fc.string(), fc.integer()),
    propensity: fc.double({ min: 1e-9, max: 1, noNaN: true }),
    reward: fc.integer(),
  }, { requiredKeys: ["id", "context", "action", "propensity"] }),
  { selector: ({ id }) => id },
);

Deno.test("what is written is read", () => {
  fc.assert(fc.property(decisions, (log) => {
    const found = parseJsonl(formatJsonl(log));
    // JSON has no -0.
    assertEquals(JSON.stringify(found), JSON.stringify(log));
  }));
});

Deno.test("a decision without context is written as it is made", () => {
  const decision: Decision<"a"> = { id: "0", action: "a", propensity: 1 };
  const text = formatJsonl([decision, { id: "0", reward: 2 }]);
  const [found] = parseJsonl<"a", void>(text);
  assertEquals<object>(found, { ...decision, reward: 2 });
});

Deno.test("rewards may come later, in any order", () => {
  fc.assert(fc.property(decisions, (log) => {
    const rewards = log.flatMap(({ id, reward }) =>
      reward === undefined ? [] : [{ id, reward }]
    ).reverse();
    const waiting = log.map(({ reward: _, ...it }) => it);
    const found = parseJsonl(formatJsonl([...waiting, ...rewards]));
    assertEquals(
      found.map(({ id, reward }) => [id, reward]),
      log.map(({ id, reward }) => [id, reward]),
    );
  }));
});

Deno.test("bad lines are named by their number", () => {
  const good = '{"id":"x","context":1,"action":"a","propensity":0.5}';
  const unnamed = '{"id":"","context":1,"action":"a","propensity":0.5}\n';
  assertThrows(
    () => parseJsonl(`${unnamed}{"reward":1}`),
    SyntaxError,
    "line 2",
  );
  const cases: [string, string][] = [
    ["{", "it is not JSON"],
    ["[]", "expected an object"],
    ["{}", "expected a decision with an action, or the reward of one before"],
    ['{"reward":1}', "or the reward of one before"],
    ['{"id":"y","reward":1}', "or the reward of one before"],
    ['{"id":"x","reward":"high"}', 'reward "high", expected a finite number'],
    [
      '{"action":"a","propensity":0}',
      "propensity 0, expected a number above 0",
    ],
    ['{"action":"a"}', "propensity undefined, expected"],
    ['{"action":"a","propensity":1.1}', "propensity 1.1, expected"],
    ['{"action":{},"propensity":1}', "expected the name of an action"],
    ['{"action":"a","propensity":1,"allowed":3}', "expected a list of allowed"],
    ['{"id":3,"action":"a","propensity":1}', "id 3, expected a text"],
    [good, "there is a decision 'x' before"],
  ];
  for (const [line, message] of cases) {
    const error = assertThrows(
      () => parseJsonl(`${good}\n\n${line}\n`),
      SyntaxError,
      `Cannot read line 3 of the log: `,
    );
    assertEquals(error.message.includes(message), true, error.message);
  }
});

Deno.test("the first reward of a decision counts, and null is none", () => {
  const lines = [
    '{"id":"x","context":1,"action":"a","propensity":0.5,"reward":null}',
    '{"id":"x","reward":2}',
    '{"id":"x","reward":3}',
  ];
  assertEquals(parseJsonl(lines.slice(0, 1).join("\n"))[0].reward, undefined);
  assertEquals(parseJsonl(lines.join("\n"))[0].reward, 2);
});

Deno.test("a mark of the byte order is no text", () => {
  const line = '{"id":"x","context":1,"action":"a","propensity":0.5}';
  assertEquals(parseJsonl(`\ufeff${line}`), parseJsonl(line));
});
