/**
 * A stand-in for `jsr:@std/assert` on machines that cannot reach JSR: the
 * functions that this workspace uses, over `node:assert`.
 */
import { AssertionError as NodeAssertionError } from "node:assert";
import { deepStrictEqual, notDeepStrictEqual } from "node:assert";

// deno-lint-ignore no-explicit-any
type Constructor<T> = abstract new (...args: any[]) => T;

export class AssertionError extends Error {
  override name = "AssertionError";
}

function failure(message: string, detail?: string): AssertionError {
  return new AssertionError(detail ? `${message}: ${detail}` : message);
}

export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw failure(msg || "Expected a truthy value");
}

export function assertFalse(expr: unknown, msg = ""): asserts expr is false {
  if (expr) throw failure(msg || "Expected a falsy value");
}

export function fail(msg?: string): never {
  throw failure(`Failed assertion${msg ? `: ${msg}` : "."}`);
}

export function unreachable(reason?: string): never {
  throw failure("Unreachable", reason);
}

function translated(run: () => void, msg?: string): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof NodeAssertionError)) throw error;
    throw failure(error.message, msg);
  }
}

export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  translated(() => deepStrictEqual(actual, expected), msg);
}

export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  translated(() => notDeepStrictEqual(actual, expected), msg);
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

function isEqual(a: unknown, b: unknown): boolean {
  try {
    deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void {
  const missing = Array.from(expected).filter((it) =>
    !Array.from(actual).some((other) => isEqual(it, other))
  );
  if (missing.length > 0) {
    throw failure(`Expected the array to include ${missing}`, msg);
  }
}

function subsetOf(actual: unknown, pattern: unknown): boolean {
  if (
    typeof pattern !== "object" || pattern === null ||
    typeof actual !== "object" || actual === null || ArrayBuffer.isView(pattern)
  ) return isEqual(actual, pattern);
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

function checkError<E extends Error>(
  error: unknown,
  expected: { errorClass?: Constructor<E>; includes?: string; msg?: string },
): E {
  const { errorClass, includes, msg } = expected;
  if (!(error instanceof Error)) throw failure("Expected an Error", msg);
  if (errorClass !== undefined && !(error instanceof errorClass)) {
    throw failure(
      `Expected a ${errorClass.name}, got ${error.constructor.name}: ${error.message}`,
      msg,
    );
  }
  if (includes !== undefined && !error.message.includes(includes)) {
    throw failure(
      `Expected the message to include "${includes}", got "${error.message}"`,
      msg,
    );
  }
  return error as E;
}

export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  errorClass?: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
): E {
  try {
    fn();
  } catch (error) {
    return checkError(error, { errorClass, includes: msgIncludes, msg });
  }
  throw failure("Expected the function to throw", msg);
}

export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  errorClass?: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return checkError(error, { errorClass, includes: msgIncludes, msg });
  }
  throw failure("Expected the function to reject", msg);
}
