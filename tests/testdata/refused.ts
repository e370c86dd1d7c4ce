import { assert, assertStringIncludes, assertThrows } from "@std/assert";

/** Names of an object's class and of those that it extends. */
function classesOf(object: object): string[] {
  const base = Object.getPrototypeOf(object);
  return base === null ? [] : [base.constructor.name, ...classesOf(base)];
}

/**
 * Asserts that each call throws what stands before it: the class of an error
 * and a part of its message, as in "RangeError: expected 3".
 */
export function assertRefused(cases: Record<string, () => unknown>): void {
  for (const [wanted, call] of Object.entries(cases)) {
    const [, name, says] = /^(\w+): (.*)$/s.exec(wanted)!;
    const error = assertThrows(call) as Error;
    assert(classesOf(error).includes(name), `${name}, got ${error}`);
    assertStringIncludes(error.message, says);
  }
}
