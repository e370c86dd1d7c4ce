/**
 * A stand-in for `jsr:@std/assert` on machines that cannot reach JSR: the
 * functions that this workspace uses, over `node:assert`.
 */
import {
  AssertionError as NodeAssertionError,
  deepStrictEqual,
} from "node:assert";
import { equal } from "./_equal.ts";

export { equal };

// deno-lint-ignore no-explicit-any
type Constructor<T> = abstract new (...args: any[]) => T;

/** What `assertFalse` lets through. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

function failure(message: string, detail?: string): AssertionError {
  return new AssertionError(detail ? `${message}: ${detail}` : message);
}

export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw failure(msg || "Expected a truthy value");
}

export function assertFalse(expr: unknown, msg = ""): asserts expr is Falsy {
  if (expr) throw failure(msg || "Expected a falsy value");
}

export function fail(msg?: string): never {
  throw failure(`Failed assertion${msg ? `: ${msg}` : "."}`);
}

export function unreachable(reason?: string): never {
  throw failure("Unreachable", reason);
}

export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  try {
    deepStrictEqual(actual, expected); // It draws the difference.
  } catch (error) {
    if (!(error instanceof NodeAssertionError)) throw error;
    throw failure(error.message, msg);
  }
}

export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) throw failure("Values are equal", msg);
}

export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (!Object.is(actual, expected)) {
    throw failure("Values are not strictly equal", msg ?? String(actual));
  }
}

export function assertNotStrictEquals<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (Object.is(actual, expected)) {
    throw failure("Values are strictly equal", msg ?? String(actual));
  }
}

export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ??
    (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  if (Math.abs(expected - actual) <= allowed) return;
  throw failure(
    `Expected ${actual} to be close to ${expected} within ${allowed}`,
    msg,
  );
}

export function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) {
    throw failure(`Expected a value, got ${actual}`, msg);
  }
}

export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Constructor<T>,
  msg = "",
): asserts actual is T {
  if (!(actual instanceof expectedType)) {
    throw failure(`Expected an instance of ${expectedType.name}`, msg);
  }
}

export function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void {
  if (!actual.includes(expected)) {
    throw failure(`Expected "${actual}" to contain "${expected}"`, msg);
  }
}

export function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void {
  if (!expected.test(actual)) {
    throw failure(`Expected "${actual}" to match ${expected}`, msg);
  }
}

export function assertNotMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void {
  if (expected.test(actual)) {
    throw failure(`Expected "${actual}" not to match ${expected}`, msg);
  }
}

export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void {
  const missing = Array.from(expected).filter((it) =>
    !Array.from(actual).some((other) => equal(it, other))
  );
  if (missing.length > 0) {
    throw failure(`Expected the array to include ${missing}`, msg);
  }
}

function subsetOf(actual: unknown, pattern: unknown): boolean {
  if (
    typeof pattern !== "object" || pattern === null ||
    typeof actual !== "object" || actual === null || ArrayBuffer.isView(pattern)
  ) return equal(actual, pattern);
  return Object.entries(pattern).every(([key, value]) =>
    subsetOf((actual as Record<string, unknown>)[key], value)
  );
}

export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  if (!subsetOf(actual, expected)) {
    throw failure("Expected the object to match", msg);
  }
}

export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) {
    throw failure(`Expected ${actual} > ${expected}`, msg);
  }
}

export function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (!(actual >= expected)) {
    throw failure(`Expected ${actual} >= ${expected}`, msg);
  }
}

export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) {
    throw failure(`Expected ${actual} < ${expected}`, msg);
  }
}

export function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (!(actual <= expected)) {
    throw failure(`Expected ${actual} <= ${expected}`, msg);
  }
}

interface Expected {
  ErrorClass?: Constructor<Error>;
  includes?: string;
  msg?: string;
}

/** std takes a class and a part of the message, or a message of its own alone. */
function expectation(
  classOrMsg?: Constructor<Error> | string,
  includes?: string,
  msg?: string,
): Expected {
  return typeof classOrMsg === "string"
    ? { msg: classOrMsg }
    : { ErrorClass: classOrMsg, includes, msg };
}

function checkError(error: unknown, expected: Expected): void {
  const { ErrorClass, includes, msg } = expected;
  if (ErrorClass === undefined) return;
  if (!(error instanceof Error)) throw failure("Expected an Error", msg);
  const { message } = error;
  const thrown = `${error.constructor.name}: ${message}`;
  if (!(error instanceof ErrorClass)) {
    throw failure(`Expected a ${ErrorClass.name}, got ${thrown}`, msg);
  }
  if (includes !== undefined && !message.includes(includes)) {
    throw failure(
      `Expected the message to include "${includes}", got "${message}"`,
      msg,
    );
  }
}

export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(
  fn: () => unknown,
  classOrMsg?: Constructor<Error> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const expected = expectation(classOrMsg, msgIncludes, msg);
  try {
    fn();
  } catch (error) {
    checkError(error, expected);
    return error;
  }
  throw failure("Expected the function to throw", expected.msg);
}

export function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: Constructor<Error> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const expected = expectation(classOrMsg, msgIncludes, msg);
  let promise: PromiseLike<unknown>;
  try {
    promise = fn();
  } catch (error) {
    // A throw is not a rejection, and std does not take it for one.
    throw failure(`The function throws instead of rejecting: ${error}`);
  }
  try {
    await promise;
  } catch (error) {
    checkError(error, expected);
    return error;
  }
  throw failure("Expected the function to reject", expected.msg);
}
