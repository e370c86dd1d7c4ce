import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { formatDsjson, parseDsjson } from "./dsjson.ts";

const decisions = fc.array(
  fc.integer({ min: 1, max: 5 }).chain((n) =>
    fc.record({
      id: fc.string(),
      context: fc.record({
        user: fc.dictionary(fc.string(), fc.integer()),
        _multi: fc.constant(Array(n).fill({ item: {} })),
      }),
      action: fc.nat(n - 1),
      propensity: fc.constant(1 / n),
      reward: fc.integer({ min: -9, max: 9 }).map((it) => it / 2 + 0),
      chances: fc.constant(Array(n).fill(1 / n)),
    }, { requiredKeys: ["id", "context", "action", "propensity", "chances"] })
  ),
);

Deno.test("what is written for Vowpal Wabbit is read", () => {
  fc.assert(fc.property(decisions, (log) => {
    assertEquals(
      JSON.stringify(parseDsjson(formatDsjson(log))),
      JSON.stringify(log),
    );
  }));
});

const LINE = {
  _label_cost: -1.5,
  _label_probability: 0.75,
  _label_Action: 2,
  _labelIndex: 1,
  EventId: "e0",
  a: [2, 1],
  c: {},
  p: [0.75, 0.25],
};

Deno.test("lines that are skipped, and decisions without a label", () => {
  const {
    _label_cost,
    _label_probability,
    _label_Action,
    _labelIndex,
    ...rest
  } = LINE;
  const lines = [
    { ...LINE, _skipLearn: true },
    { RewardValue: 1 },
    rest,
  ].map((it) => JSON.stringify(it));
  assertEquals(parseDsjson(lines.join("\n")), [{
    id: "e0",
    context: {},
    action: 1,
    propensity: 0.75,
    chances: [0.25, 0.75],
  }]);
});

Deno.test("bad lines are named by their number", () => {
  const cases: [object, string][] = [
    [{ _label_probability: 0 }, "propensity 0, expected a number above 0"],
    [{ _label_cost: "low" }, "expected a finite number"],
    [{ _labelIndex: 0 }, "counts from 0, _label_Action from 1: expected 1"],
    [{ _label_Action: 0 }, "expected the action that was taken"],
    [{ _label_Action: "b" }, "expected the action that was taken"],
    [{ p: [1] }, "expected as many chances p as actions a"],
    [{ p: [-1, 2] }, "expected chances p from 0 to 1"],
    [{ c: null }, "expected an object c"],
    [{ _label_Action: 3, _labelIndex: 2 }, "expected an action up to 2"],
    [{ a: [2, 2] }, "expected actions a from 1 to 2, each once"],
    [{ a: [0, 1] }, "expected actions a from 1 to 2, each once"],
    [{ a: "12" }, "expected as many chances p as actions a"],
  ];
  for (const [part, message] of cases) {
    const text = `\n${JSON.stringify({ ...LINE, ...part })}`;
    assertThrows(() => parseDsjson(text), SyntaxError, "Cannot read line 2");
    assertThrows(() => parseDsjson(text), SyntaxError, message);
  }
  assertThrows(() => parseDsjson("{"), SyntaxError, "it is not JSON");
});

Deno.test("decisions without chances are not written for Vowpal Wabbit", () => {
  const [{ chances: _, ...decision }] = parseDsjson(JSON.stringify(LINE));
  assertThrows(() => formatDsjson([decision]), TypeError, "decision e0");
  const other = { ...decision, action: 2, chances: [0.5, 0.5] };
  assertThrows(() => formatDsjson([other]), TypeError, "decision e0");
});

Deno.test("a reward that never came is no cost of 0", () => {
  const [decision] = parseDsjson(JSON.stringify(LINE));
  const text = formatDsjson([{ ...decision, reward: null as never }]);
  assertEquals(parseDsjson(text)[0].reward, undefined);
});
