/** Messages between a worker in another process and the parameter server. */

/** Arrays that a worker may need, as bits. */
export const PART = { params: 1, target: 2 } as const;
export type Part = keyof typeof PART;
/** Names of these arrays, in the order in which they are sent. */
export const PARTS = Object.keys(PART) as Part[];

/** Time of an update of the target network: before or after the push. */
export const SYNC = { never: 0, before: 1, after: 2 } as const;

/** Largest number of statistics in a report. */
const REPORT = 8;
/** Numbers before the gradient of a request, and before the arrays of a reply. */
const ASKED = 7 + REPORT, TOLD = 4;

/** Request of a worker: its progress since the last one, and its needs. */
export interface Question {
  /** Steps taken. */
  readonly steps: number;
  /** Steps to claim. */
  readonly claim: number;
  /** One of `SYNC`. */
  readonly sync: number;
  /** Arrays that the worker uses, as bits of `PART`. */
  readonly parts: number;
  /** True if it needs the arrays at once, even if no steps are left to take. */
  readonly pulls: boolean;
  /** Gradient to push, and its learning rate. */
  readonly gradient?: Float32Array;
  readonly rate: number;
  /** Statistics to report; empty to report none. */
  readonly statistics: readonly number[];
}

/** Reply to a worker. */
export interface Told {
  /** Steps of all workers, `T`. */
  readonly steps: number;
  /** Updates of the target network so far. */
  readonly targets: number;
  /** Steps granted to it. */
  readonly granted: number;
  /** Arrays that have changed since the last reply. */
  readonly arrays: Partial<Record<Part, Float32Array>>;
}

function bytesOf(array: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Encodes a request, in parts. */
export function encodeQuestion(question: Question): Uint8Array[] {
  const { steps, claim, sync, parts, pulls, gradient, rate } = question;
  const { statistics } = question, head = new Float64Array(ASKED);
  const hasGradient = Number(gradient !== undefined);
  head.set([steps, claim, sync, parts + 4 * Number(pulls), hasGradient, rate]);
  head.set([statistics.length, ...statistics], 6);
  return [bytesOf(head), ...gradient ? [bytesOf(gradient)] : []];
}

/** Decodes a request; throws if its number of parameters differs. */
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

/** Encodes a reply, in parts. */
export function encodeTold(told: Told): Uint8Array[] {
  const { steps, targets, granted, arrays } = told;
  const sent = PARTS.filter((part) => arrays[part] !== undefined);
  const bits = sent.reduce((sum, part) => sum + PART[part], 0);
  const head = Float64Array.of(steps, targets, granted, bits);
  return [bytesOf(head), ...sent.map((part) => bytesOf(arrays[part]!))];
}

/** Decodes a reply; its arrays are views of the bytes. */
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
