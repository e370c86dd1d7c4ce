/** Frames of TensorFlow.js, of this package's tracing and of the runtime. */
const INSIDE = [
  "@tensorflow/",
  "ext:",
  "node:",
  import.meta.url,
  new URL("recorder.ts", import.meta.url).href,
  new URL("trace.ts", import.meta.url).href,
  new URL("tracing_backend.ts", import.meta.url).href,
  new URL("../kernels/", import.meta.url).href,
];

/** Frames that lie between a kernel and the code that called for it. */
const FRAMES = 60;

/**
 * The place in a program that called for an operation. It is worked out when
 * it is asked for: that takes much longer than remembering where it was.
 */
export class SourceLine {
  readonly #error: Error;

  /** Remembers the place that is now being run, with frames around it. */
  constructor(frames: number = FRAMES) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = frames;
    this.#error = new Error();
    Error.stackTraceLimit = limit;
  }

  /** The frames between the operation and the program, innermost first. */
  get frames(): string[] {
    return (this.#error.stack ?? "").split("\n").slice(1);
  }

  /** `file:line`, or an empty text where it is not known. */
  toString(): string {
    for (const frame of this.frames) {
      if (INSIDE.some((part) => frame.includes(part))) continue;
      const found = /((?:file|https?):\/\/[^)\s]+?):(\d+):\d+\)?$/.exec(frame);
      if (found !== null) return `${lastPart(found[1])}:${found[2]}`;
    }
    return "";
  }
}

function lastPart(url: string): string {
  return decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
}
