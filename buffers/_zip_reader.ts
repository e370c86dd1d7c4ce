import { type ByteSource, FileSource, StreamSource } from "./_byte_source.ts";
import { crc32 } from "./_crc.ts";
import type { InputFile } from "./_files.ts";
import {
  ENCRYPTED_FLAG,
  IN_EXTRA,
  METHODS,
  SIGNATURES,
  STREAMED_FLAG,
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
  /** Position of its bytes in the file. */
  readonly start: number;
}

/** Bytes that follow each other. */
interface Span {
  readonly start: number;
  readonly length: number;
}

/** Place of the directory, and the number of its members. */
interface Directory extends Span {
  readonly count: number;
}

/** Fields that a member's own header and the directory both have. */
type Header = Omit<Member, "start">;

const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const END64_BYTES = 56;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;

const WORDS = {
  crc: "checksum",
  size: "length",
  compressedSize: "stored length",
} as const;

/** The comment at the end of the file has at most so many bytes. */
const MAX_COMMENT_BYTES = 0xffff;

/**
 * Reads the members of a zip file. Each one's own header is compared with the
 * directory, as no checksum guards either. Throws a SyntaxError with the reason
 * alone where the file is no zip file, is cut off or damaged.
 */
export async function readDirectory(file: InputFile): Promise<Member[]> {
  const { start, length, count } = await findDirectory(file);
  const view = await readView(file, start, length);
  const members = new Map<string, Member>();
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
    const readLarge = largeNumbers(view, {
      start: extraStart,
      length: extraBytes,
    });
    // Lengths come before the place, as in the extra field.
    const header = readHeader(view, at + 8, readLarge);
    const name = bytesAt(view, at + CENTRAL_BYTES, nameBytes);
    const member = {
      ...header,
      name: new TextDecoder().decode(name),
      start: await dataStart(file, readLarge(at + 42), { header, name }),
    };
    if (members.has(member.name)) {
      throw new SyntaxError(`it has ${quoted(member.name)} twice`);
    }
    members.set(member.name, member);
    at = next;
  }
  if (members.size === count) return [...members.values()];
  throw new SyntaxError(
    `its directory has ${members.size} members, expected ${count}`,
  );
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
  const { start, compressedSize, method, flags } = member;
  if (flags & ENCRYPTED_FLAG) {
    throw new TypeError("it is encrypted, expected it without a password");
  }
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
    const position = file.size - length + at;
    const large = await findLargeDirectory(file, position);
    return large ?? checkEnd(position, {
      count: view.getUint16(at + 10, true),
      length: view.getUint32(at + 12, true),
      start: view.getUint32(at + 16, true),
    });
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
  const position = getUint64(locator, 8);
  const view = await readView(file, position, END64_BYTES);
  if (view.getUint32(0, true) !== SIGNATURES.end64) {
    throw new SyntaxError("its end is damaged");
  }
  return checkEnd(position, {
    count: getUint64(view, 32),
    length: getUint64(view, 40),
    start: getUint64(view, 48),
  });
}

/** Returns a directory that ends where the record that tells of it begins. */
function checkEnd(position: number, directory: Directory): Directory {
  const end = directory.start + directory.length;
  if (end === position) return directory;
  throw new SyntaxError(
    `its end is damaged: the directory ends at ${end}, expected ${position}`,
  );
}

/** Reads the fields that both kinds of headers have in the same order. */
function readHeader(
  view: DataView,
  at: number,
  readLarge: (position: number) => number,
): Omit<Header, "name"> {
  const size = readLarge(at + 16);
  return {
    flags: view.getUint16(at, true),
    method: view.getUint16(at + 2, true),
    crc: view.getUint32(at + 8, true),
    compressedSize: readLarge(at + 12),
    size,
  };
}

/** Compares a member's own header with the directory's, and finds its bytes. */
async function dataStart(
  file: InputFile,
  offset: number,
  wanted: { header: Omit<Header, "name">; name: Uint8Array },
): Promise<number> {
  const name = new TextDecoder().decode(wanted.name);
  const damaged = (what: string) =>
    new SyntaxError(
      `its directory and the header of ${quoted(name)} differ in ${what}`,
    );
  const fixed = await readView(file, offset, LOCAL_BYTES);
  if (fixed.getUint32(0, true) !== SIGNATURES.local) throw damaged("place");
  const nameBytes = fixed.getUint16(26, true);
  const extra = {
    start: LOCAL_BYTES + nameBytes,
    length: fixed.getUint16(28, true),
  };
  const length = extra.start + extra.length;
  const view = await readView(file, offset, length);
  const actual = bytesAt(view, LOCAL_BYTES, nameBytes);
  if (
    nameBytes !== wanted.name.length ||
    actual.some((byte, i) => byte !== wanted.name[i])
  ) throw damaged("name");
  const header = readHeader(view, 6, largeNumbers(view, extra));
  const flags = ENCRYPTED_FLAG | STREAMED_FLAG;
  if ((header.flags ^ wanted.header.flags) & flags) throw damaged("flags");
  if (header.method !== wanted.header.method) throw damaged("method");
  if (!(header.flags & STREAMED_FLAG)) {
    for (const key of ["crc", "size", "compressedSize"] as const) {
      if (header[key] !== wanted.header[key]) throw damaged(WORDS[key]);
    }
  }
  return offset + length;
}

/** Reads numbers of 4 bytes, or in their place the next one of the extra field. */
function largeNumbers(
  view: DataView,
  extra: Span,
): (position: number) => number {
  let next = findExtra(view, extra);
  return (position) => {
    const value = view.getUint32(position, true);
    if (value !== IN_EXTRA || next === undefined) return value;
    if (next + 8 > extra.start + extra.length) {
      throw new SyntaxError("its directory is damaged");
    }
    next += 8;
    return getUint64(view, next - 8);
  };
}

function findExtra(view: DataView, extra: Span): number | undefined {
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

/** A name in one line, whatever bytes it has. */
function quoted(name: string): string {
  return `'${JSON.stringify(name).slice(1, -1)}'`;
}

function bytesAt(view: DataView, start: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, start, length);
}

function getUint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}
