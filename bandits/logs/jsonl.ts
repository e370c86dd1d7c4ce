import type { ActionName, Decision } from "../bandit.ts";
import {
  check,
  type LoggedDecision,
  numberOf,
  parseLines,
} from "./decision.ts";

/**
 * Reads a log of JSON lines. A line is a decision, `{ id, context, action, propensity }`
 * with or without `reward`, or a reward that came later, `{ id, reward }`.
 *
 * @typeParam A Name of an action.
 * @typeParam C Context: it is not checked.
 * @param text The log; empty lines are skipped.
 * @returns The decisions. Those whose reward never came have none.
 * @throws {SyntaxError} If a line is no such line: it is named by its number, from 1.
 * @example
 * ```ts
 * import { parseJsonl } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * const [first, second] = parseJsonl<string, number>(`
 * {"id":"0","context":3,"action":"a","propensity":0.5}
 * {"id":"1","context":4,"action":"b","propensity":0.5}
 * {"id":"0","reward":1}
 * `);
 * assertEquals([first.reward, second.reward], [1, undefined]);
 * ```
 */
export function parseJsonl<A extends ActionName, C>(
  text: string,
): LoggedDecision<A, C>[] {
  const decisions: LoggedDecision<A, C>[] = [];
  const byId = new Map<string, LoggedDecision<A, C>>();
  for (const [line, value] of parseLines(text)) {
    const { id, action, reward, allowed } = value;
    const isNamed = typeof id === "string",
      isFine = isNamed || id === undefined;
    check(isFine, line, `it has id ${JSON.stringify(id)}, expected a text`);
    if (reward === undefined || reward === null) delete value.reward;
    else numberOf(line, "reward", reward);
    const before = isNamed ? byId.get(id) : undefined;
    if (action === undefined) {
      const problem =
        "expected a decision with an action, or the reward of one before";
      check(before !== undefined && value.reward !== undefined, line, problem);
      before.reward ??= reward as number;
      continue;
    }
    const isName = typeof action === "string" || typeof action === "number";
    check(isName, line, "expected the name of an action");
    const isList = allowed === undefined || Array.isArray(allowed);
    check(isList, line, "expected a list of allowed actions");
    numberOf(line, "propensity", value.propensity);
    check(before === undefined, line, `there is a decision '${id}' before`);
    const decision = value as unknown as LoggedDecision<A, C>;
    decisions.push(decision);
    if (isNamed) byId.set(id, decision);
  }
  return decisions;
}

/**
 * Writes decisions as JSON lines, as {@linkcode parseJsonl} reads them. A single one may
 * be appended to a file.
 *
 * @param decisions The decisions, or rewards that came later: `{ id, reward }`.
 * @returns The lines, with a line feed after each.
 * @example
 * ```ts
 * import { formatJsonl } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(formatJsonl([{ id: "0", reward: 1 }]), '{"id":"0","reward":1}\n');
 * ```
 */
export function formatJsonl(
  decisions: Iterable<
    | LoggedDecision<ActionName, unknown>
    | Decision<ActionName>
    | { id: string; reward: number }
  >,
): string {
  return Array.from(decisions, (it) => `${JSON.stringify(it)}\n`).join("");
}
