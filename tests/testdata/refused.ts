import {
  assert,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";

/** Names of an object's class and of those that it extends. */
function classesOf(object: object): string[] {
  const base = Object.getPrototypeOf(object);
  return base === null ? [] : [base.constructor.name, ...classesOf(base)];
}

function assertIs(thrown: unknown, wanted: string): void {
  const error = thrown as Error;
  const [, name, says] = /^(\w+): (.*)$/s.exec(wanted)!;
  assert(classesOf(error).includes(name), `${name}, got ${error}`);
  assertStringIncludes(error.message, says);
}

/**
 * Asserts that each call throws what stands before it: the class of an error
 * and a part of its message, as in "RangeError: expected 3".
 */
export function assertRefused(cases: Record<string, () => unknown>): void {
  for (const [wanted, call] of Object.entries(cases)) {
    assertIs(assertThrows(call), wanted);
  }
}

/** Asserts the same of calls whose promise is rejected. */
export async function assertRejected(
  cases: Record<string, () => Promise<unknown>>,
): Promise<void> {
  for (const [wanted, call] of Object.entries(cases)) {
    assertIs(await assertRejects(call), wanted);
  }
}
