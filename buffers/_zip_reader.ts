import { type ByteSource, FileSource, StreamSource } from "./_byte_source.ts";
import { crc32 } from "./_crc.ts";
import type { InputFile } from "./_files.ts";
import {
  ENCRYPTED_FLAG,
  IN_EXTRA,
  METHODS,
  SIGNATURES,
  ZIP64_EXTRA,
} from "./_zip_format.ts";

/** A member of a zip file. */
export interface Member {
  readonly name: string;
  /** Its bytes when they are not compressed. */
  readonly size: number;
  readonly compressedSize: number;
  readonly crc: number;
  readonly flags: number;
  readonly method: number;
  /** Where its local header is. */
  readonly offset: number;
}

/** Where the directory is. */
interface Directory {
  readonly start: number;
  readonly length: number;
}

const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const END64_BYTES = 56;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;

/** The comment at the end of the file has at most so many bytes. */
const MAX_COMMENT_BYTES = 0xffff;

/**
 * The members of a zip file. Throws a SyntaxError with the reason alone where it
 * is none, or is cut off.
 */
export async function readDirectory(file: InputFile): Promise<Member[]> {
  const { start, length } = await findDirectory(file);
  const view = await readView(file, start, length);
  const members: Member[] = [];
  for (let at = 0; at < length;) {
    const fits = at + CENTRAL_BYTES <= length &&
      view.getUint32(at, true) === SIGNATURES.central;
    if (!fits) throw new SyntaxError("its directory is damaged");
    const nameBytes = view.getUint16(at + 28, true);
    const extraBytes = view.getUint16(at + 30, true);
    const commentBytes = view.getUint16(at + 32, true);
    const extraStart = at + CENTRAL_BYTES + nameBytes;
    const next = extraStart + extraBytes + commentBytes;
    if (next > length) throw new SyntaxError("its directory is damaged");
    members.push({
      name: new TextDecoder().decode(
        bytesAt(view, at + CENTRAL_BYTES, nameBytes),
      ),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      ...readPlace(view, at, { start: extraStart, length: extraBytes }),
    });
    at = next;
  }
  return members;
}

/**
 * Reads a member's bytes, all of them, and compares their checksum. Throws a
 * SyntaxError or TypeError with the reason alone.
 */
export async function readMember<Result>(
  file: InputFile,
  member: Member,
  read: (source: ByteSource) => Promise<Result>,
): Promise<Result> {
  const { offset, compressedSize, method, flags } = member;
  if (flags & ENCRYPTED_FLAG) {
    throw new TypeError("it is encrypted, expected it without a password");
  }
  const local = await readView(file, offset, LOCAL_BYTES);
  if (local.getUint32(0, true) !== SIGNATURES.local) {
    throw new SyntaxError("its header is damaged");
  }
  const start = offset + LOCAL_BYTES + local.getUint16(26, true) +
    local.getUint16(28, true);
  if (start + compressedSize > file.size) {
    throw new SyntaxError("it is cut off at the end of the file");
  }
  const stored = new FileSource(file, start, compressedSize);
  if (method === METHODS.stored) return await readChecked(stored, member, read);
  if (method !== METHODS.deflated) {
    throw new TypeError(
      `it is compressed by method ${method}, expected stored or deflated`,
    );
  }
  const reader = stored.stream()
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .getReader();
  try {
    return await readChecked(new InflatedSource(reader), member, read);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Says that deflated bytes are wrong in the words of this reader. */
class InflatedSource extends StreamSource {
  override async fill(target: Uint8Array): Promise<number> {
    try {
      return await super.fill(target);
    } catch (error) {
      const reason = (error as Error).message;
      throw new SyntaxError(`its bytes cannot be inflated: ${reason}`);
    }
  }
}

async function readChecked<Result>(
  source: ByteSource,
  { crc, size }: Member,
  read: (source: ByteSource) => Promise<Result>,
): Promise<Result> {
  let actual = 0;
  let length = 0;
  const result = await read({
    async fill(target) {
      const filled = await source.fill(target);
      actual = crc32(target.subarray(0, filled), actual);
      length += filled;
      return filled;
    },
  });
  const rest = await source.fill(new Uint8Array(1));
  if (length !== size || rest > 0) {
    throw new SyntaxError(
      `it has ${rest > 0 ? "more" : length} bytes, expected ${size}`,
    );
  }
  if (actual === crc) return result;
  const hex = (value: number) => value.toString(16).padStart(8, "0");
  throw new SyntaxError(
    `it is damaged: its checksum is ${hex(actual)}, expected ${hex(crc)}`,
  );
}

async function findDirectory(file: InputFile): Promise<Directory> {
  const length = Math.min(file.size, END_BYTES + MAX_COMMENT_BYTES);
  const view = await readView(file, file.size - length, length);
  for (let at = length - END_BYTES; at >= 0; at--) {
    const isEnd = view.getUint32(at, true) === SIGNATURES.end &&
      at + END_BYTES + view.getUint16(at + 20, true) === length;
    if (!isEnd) continue;
    const directory = {
      length: view.getUint32(at + 12, true),
      start: view.getUint32(at + 16, true),
    };
    const position = file.size - length + at;
    return await findLargeDirectory(file, position) ?? directory;
  }
  throw new SyntaxError("it does not end as a zip file does");
}

/** Where the larger form of the format is used, its record says more. */
async function findLargeDirectory(
  file: InputFile,
  end: number,
): Promise<Directory | undefined> {
  if (end < LOCATOR_BYTES) return undefined;
  const locator = await readView(file, end - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator.getUint32(0, true) !== SIGNATURES.locator64) return undefined;
  const view = await readView(file, getUint64(locator, 8), END64_BYTES);
  if (view.getUint32(0, true) !== SIGNATURES.end64) {
    throw new SyntaxError("its end is damaged");
  }
  return { length: getUint64(view, 40), start: getUint64(view, 48) };
}

/** Lengths and place of a member, which may stand in an extra field. */
function readPlace(
  view: DataView,
  at: number,
  extra: Directory,
): Pick<Member, "size" | "compressedSize" | "offset"> {
  let next = findExtra(view, extra);
  const read = (position: number): number => {
    const value = view.getUint32(position, true);
    if (value !== IN_EXTRA || next === undefined) return value;
    if (next + 8 > extra.start + extra.length) {
      throw new SyntaxError("its directory is damaged");
    }
    next += 8;
    return getUint64(view, next - 8);
  };
  // This is the order in the extra field, which holds only what is needed.
  const size = read(at + 24);
  const compressedSize = read(at + 20);
  return { size, compressedSize, offset: read(at + 42) };
}

function findExtra(view: DataView, extra: Directory): number | undefined {
  const end = extra.start + extra.length;
  for (let at = extra.start; at + 4 <= end;) {
    if (view.getUint16(at, true) === ZIP64_EXTRA) return at + 4;
    at += 4 + view.getUint16(at + 2, true);
  }
  return undefined;
}

async function readView(
  file: InputFile,
  start: number,
  length: number,
): Promise<DataView> {
  if (start < 0 || start + length > file.size) {
    throw new SyntaxError(
      `it is cut off: it has ${file.size} bytes, expected ${start + length}`,
    );
  }
  const bytes = new Uint8Array(length);
  await file.read(start, bytes);
  return new DataView(bytes.buffer);
}

function bytesAt(view: DataView, start: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, start, length);
}

function getUint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}
