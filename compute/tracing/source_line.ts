/** Frames that lie between a kernel and the code that called for it. */
const FRAMES = 60;

/** Address of this file; scripts that were bundled have none. */
const HERE = import.meta.url ?? "file:///";
const isFile = HERE.startsWith("file:");
const isCheckout = isFile && !HERE.includes("/node_modules/");

/** Folder that our packages lie in: a checkout, or the scope on npm or JSR. */
const ROOT = new URL(isFile ? "../../" : "../../../", HERE).href;

/** Folders of packages in it. */
const PACKAGES = isCheckout
  ? /^(algorithms|buffers|cli|compute|envs|files|lab|policies|schedulers|statistics|types)\//
  : /^/;

/** Tests, and what they are given, are code like that of users. */
const TEST = /_test\.ts$|\/testdata\//;

/** Returns true for code of TensorFlow.js, and of some packages of ours. */
function isIn(packages: RegExp, url: string): boolean {
  if (url.includes("/@tensorflow/")) return true;
  const isOurs = url.startsWith(ROOT) && !TEST.test(url);
  return isOurs && packages.test(url.slice(ROOT.length));
}

/** Finds `file:line` of the code that a user wrote, in frames innermost first. */
function placeIn(frames: readonly string[]): string {
  const end = frames.findIndex((it) => it.includes(atItsPlace.name));
  const places = frames.slice(0, end < 0 ? undefined : end).flatMap((frame) => {
    const found = /((?:file|https?):\/\/[^)\s]+?):(\d+):\d+\)?$/.exec(frame);
    return found === null ? [] : [{ url: found[1], line: found[2] }];
  });
  // Where all of it is ours, the algorithm's line tells more than this package's.
  const found = places.find(({ url }) => !isIn(PACKAGES, url)) ??
    places.find(({ url }) => !isIn(/^compute\//, url));
  return found === undefined ? "" : `${lastPart(found.url)}:${found.line}`;
}

function lastPart(url: string): string {
  return decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
}

function framesOf(error: Error): string[] {
  return (error.stack ?? "").split("\n").filter((it) => /^\s+at /.test(it));
}

/**
 * The place in a program that called an operation. The stack is only parsed when
 * it is read: that takes much longer than capturing it.
 */
export class SourceLine {
  readonly #error: Error;

  /** Remembers the place that is now being run. */
  constructor() {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = FRAMES;
    this.#error = new Error();
    Error.stackTraceLimit = limit;
  }

  /** Prints `file:line`, or an empty text where it is not known. */
  toString(): string {
    return placeIn(framesOf(this.#error));
  }
}

/** An error whose message names the line of the user's that it comes from. */
export class PlacedError extends TypeError {}

/** Errors that have no class of their own. */
const PLAIN: ReadonlySet<unknown> = new Set([
  Error,
  TypeError,
  RangeError,
  ReferenceError,
  SyntaxError,
]);

/**
 * Calls a function of the user's: its errors, those of TensorFlow.js above all,
 * name the file and the line of the user's that they come from.
 *
 * @param action Action that fails, such as `compile the update of a2c`.
 */
export function atItsPlace<T>(action: string, call: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  try {
    return call();
  } catch (error) {
    if (error instanceof PlacedError) throw error;
    // Callers distinguish errors of their own classes.
    if (!(error instanceof Error) || !PLAIN.has(error.constructor)) throw error;
    const place = placeIn(framesOf(error));
    const message = `Cannot ${action}${place && ` at ${place}`}: ${
      error.message.trim().replace(/\.$/, "")
    }`;
    const Kind = error instanceof RangeError ? RangeError : TypeError;
    throw new Kind(message, { cause: error });
  } finally {
    Error.stackTraceLimit = limit;
  }
}

const NO_GRADIENT = "gradient function not found for";

/**
 * Makes the error of a kernel that lies on the way of a gradient and has none.
 *
 * @param maker The kernel's operation, where it was traced.
 */
export function noGradient(
  kernel: string,
  maker?: { readonly source?: { toString(): string } },
): TypeError {
  const place = maker?.source === undefined ? "" : ` at ${maker.source}`;
  const Kind = maker === undefined ? TypeError : PlacedError;
  return new Kind(
    `Cannot compute the gradient${place}: ${NO_GRADIENT} ${kernel}; ` +
      `compute it outside of the loss function, or choose with tf.maximum, ` +
      `tf.minimum or clip`,
  );
}

/** True for an error of a kernel without a gradient. */
export function lacksGradient(error: unknown): error is Error {
  return error instanceof Error && error.message.includes(NO_GRADIENT);
}
