import {
  check,
  isRecord,
  type LoggedDecision,
  numberOf,
  parseLines,
} from "./decision.ts";
import { mismatch } from "../models/_refuse.ts";

/** Decision of a log of Vowpal Wabbit. */
export interface DsjsonDecision
  extends LoggedDecision<number, Record<string, unknown>> {
  /** Chance of each action, by index, where the line has them. */
  chances?: number[];
}

/** Chances of a line by the actions' indices: its lists are in an order of their own. */
function chancesOf(
  line: number,
  { a, p }: Record<string, unknown>,
): number[] | undefined {
  if (p === undefined) return undefined;
  const isList = (it: unknown): it is number[] =>
    Array.isArray(it) && it.every(Number.isFinite);
  const isFine = isList(a) && isList(p) && a.length === p.length;
  check(isFine, line, "expected as many chances p as actions a");
  const areChances = p.every((it) => it >= 0 && it <= 1);
  check(areChances, line, "expected chances p from 0 to 1");
  const chances: number[] = Array(a.length).fill(NaN);
  // Actions count from 1.
  a.forEach((action, i) => chances[action - 1] = p[i]);
  const areAll = chances.length === a.length && !chances.some(Number.isNaN);
  check(areAll, line, `expected actions a from 1 to ${a.length}, each once`);
  return chances;
}

/**
 * Reads a log of Vowpal Wabbit: decisions as JSON lines (dsjson). Actions are indices from
 * 0, rewards are costs with the other sign, and the context is the line's `c`, whose
 * `_multi` holds the features of each action. Lines with `_skipLearn` are left out, as
 * Vowpal Wabbit does, and so are lines that are no decisions.
 *
 * @param text The log; empty lines are skipped.
 * @returns The decisions. Those without a label have no reward.
 * @throws {SyntaxError} If a line is not such a decision: it is named by its number, from
 * 1.
 * @example
 * ```ts
 * import { parseDsjson } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * const [{ action, reward, propensity, chances }] = parseDsjson(
 *   '{"_label_cost":-1.5,"_label_probability":0.75,"_label_Action":2,' +
 *     '"_labelIndex":1,"EventId":"e0","a":[2,1],"c":{},"p":[0.75,0.25]}',
 * );
 * assertEquals([action, reward, propensity], [1, 1.5, 0.75]);
 * assertEquals(chances, [0.25, 0.75]);
 * ```
 */
export function parseDsjson(text: string): DsjsonDecision[] {
  const decisions: DsjsonDecision[] = [];
  for (const [line, value] of parseLines(text)) {
    if (value._skipLearn === true || value.c === undefined) continue;
    const { a, c, p, EventId, _label_cost: cost } = value;
    const chances = chancesOf(line, value), isLabeled = cost !== undefined;
    // Without a label, the first of the actions was taken.
    const [number, propensity] = isLabeled
      ? [value._label_Action, value._label_probability]
      : [a, p].map((it) => Array.isArray(it) ? it[0] : undefined);
    const action = Number(number) - 1, { _labelIndex: index = action } = value;
    const isAction = Number.isInteger(action) && action >= 0;
    check(isAction, line, "expected the action that was taken");
    const { length = Infinity } = chances ?? {};
    check(action < length, line, `expected an action up to ${length}`);
    check(isRecord(c), line, "expected an object c, the context");
    const problem = `_labelIndex ${index} counts from 0, _label_Action from 1`;
    check(index === action, line, `${problem}: expected ${action}`);
    decisions.push({
      ...(typeof EventId === "string" ? { id: EventId } : {}),
      context: c,
      action,
      propensity: numberOf(line, "propensity", propensity),
      // Not -0.
      ...(isLabeled ? { reward: 0 - numberOf(line, "_label_cost", cost) } : {}),
      ...(chances === undefined ? {} : { chances }),
    });
  }
  return decisions;
}

/**
 * Writes decisions as a log that Vowpal Wabbit reads (dsjson).
 *
 * @param decisions The decisions, with the chances of all actions.
 * @returns The lines, with a line feed after each.
 * @throws {TypeError} If a decision has no chances.
 * @example
 * ```ts
 * import { formatDsjson, parseDsjson } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * const decision = {
 *   id: "e0",
 *   context: { user: { age: 3 }, _multi: [{ price: 1 }, { price: 2 }] },
 *   action: 1,
 *   propensity: 0.75,
 *   reward: 2,
 *   chances: [0.25, 0.75],
 * };
 * assertEquals(parseDsjson(formatDsjson([decision])), [decision]);
 * ```
 */
export function formatDsjson(decisions: Iterable<DsjsonDecision>): string {
  let text = "";
  for (const decision of decisions) {
    const { id, context, action, propensity, reward, chances } = decision;
    if (chances?.[action] === undefined) {
      const what = `write decision ${id ?? action} for Vowpal Wabbit`;
      throw mismatch(what, "the chances of all actions");
    }
    const others = chances.flatMap((_, i) => i === action ? [] : [i]);
    const order = [action, ...others];
    const label = reward === undefined || reward === null ? {} : {
      _label_cost: -reward,
      _label_probability: propensity,
      _label_Action: action + 1,
      _labelIndex: action,
    };
    const line = {
      ...label,
      Version: "1",
      EventId: id,
      a: order.map((it) => it + 1),
      c: context,
      p: order.map((it) => chances[it]),
    };
    text += `${JSON.stringify(line)}\n`;
  }
  return text;
}
