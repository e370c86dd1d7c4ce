/** Messages between a worker in another process and the parameters that all learn. */

/** Arrays of parameters that a worker may want, as bits. */
export const PART = { params: 1, target: 2 } as const;
export type Part = keyof typeof PART;
/** All of them, in the order in which they are sent. */
export const PARTS = Object.keys(PART) as Part[];

/** When the target network is to be copied to: before or after the push. */
export const SYNC = { never: 0, before: 1, after: 2 } as const;

/** Most statistics of a report. */
const REPORT = 8;
/** Numbers in front of a gradient, and of parameters. */
const ASKED = 7 + REPORT, TOLD = 4;

/** A question: what was done since the last one, and what is wanted. */
export interface Question {
  /** Steps that were taken. */
  readonly steps: number;
  /** Steps to claim. */
  readonly claim: number;
  /** One of `SYNC`. */
  readonly sync: number;
  /** Arrays that the worker uses, as bits of `PART`. */
  readonly parts: number;
  /** True where it needs them at once, and not only with steps to take. */
  readonly pulls: boolean;
  /** Gradient to push, and its learning rate. */
  readonly gradient?: Float32Array;
  readonly rate: number;
  /** Statistics to report; none are sent where there are none. */
  readonly statistics: readonly number[];
}

/** What the worker is told. */
export interface Told {
  /** Steps of all workers, `T`. */
  readonly steps: number;
  /** Copies to the target network so far. */
  readonly targets: number;
  /** Steps that it may take. */
  readonly granted: number;
  /** Arrays that have changed since the last ones. */
  readonly arrays: Partial<Record<Part, Float32Array>>;
}

function bytesOf(array: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Returns the bytes of a question in parts. */
export function encodeQuestion(question: Question): Uint8Array[] {
  const { steps, claim, sync, parts, pulls, gradient, rate } = question;
  const { statistics } = question, head = new Float64Array(ASKED);
  const hasGradient = Number(gradient !== undefined);
  head.set([steps, claim, sync, parts + 4 * Number(pulls), hasGradient, rate]);
  head.set([statistics.length, ...statistics], 6);
  return [bytesOf(head), ...gradient ? [bytesOf(gradient)] : []];
}

/** Reads a question; it throws where it is of another number of parameters. */
export function decodeQuestion(bytes: Uint8Array, size: number): Question {
  const { buffer, byteOffset } = bytes;
  const head = new Float64Array(buffer, byteOffset, ASKED);
  const [steps, claim, sync, wanted, hasGradient, rate, count] = head;
  const gradient = new Float32Array(buffer, byteOffset + head.byteLength);
  if (hasGradient && gradient.length !== size) {
    throw new RangeError(
      `Cannot push a gradient of ${gradient.length} numbers: expected ${size}`,
    );
  }
  return {
    steps,
    claim,
    sync,
    parts: wanted & 3,
    pulls: wanted >= 4,
    rate,
    statistics: [...head.subarray(7, 7 + count)],
    ...hasGradient && { gradient },
  };
}

/** Returns the bytes of what a worker is told in parts. */
export function encodeTold(told: Told): Uint8Array[] {
  const { steps, targets, granted, arrays } = told;
  const sent = PARTS.filter((part) => arrays[part] !== undefined);
  const bits = sent.reduce((sum, part) => sum + PART[part], 0);
  const head = Float64Array.of(steps, targets, granted, bits);
  return [bytesOf(head), ...sent.map((part) => bytesOf(arrays[part]!))];
}

/** Reads what a worker is told; its arrays are views of the bytes. */
export function decodeTold(bytes: Uint8Array, size: number): Told {
  const { buffer, byteOffset } = bytes;
  const head = new Float64Array(buffer, byteOffset, TOLD);
  const [steps, targets, granted, bits] = head;
  const arrays: Partial<Record<Part, Float32Array>> = {};
  let at = byteOffset + head.byteLength;
  for (const part of PARTS) {
    if ((bits & PART[part]) === 0) continue;
    arrays[part] = new Float32Array(buffer, at, size);
    at += arrays[part].byteLength;
  }
  return { steps, targets, granted, arrays };
}
