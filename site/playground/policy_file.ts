import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Most bytes of a policy's file: those of images have some million. */
const MOST_BYTES = 64 * 2 ** 20;

/**
 * Refuses a file that is too long, before it is read.
 *
 * @throws {RangeError} If it is.
 */
export function checkFileSize(
  { name, size }: Pick<File, "name" | "size">,
): void {
  if (size <= MOST_BYTES) return;
  const [found, most] = [size, MOST_BYTES].map((it) => Math.ceil(it / 2 ** 20));
  throw new RangeError(
    `Cannot open ${name}: it has ${found} MiB, expected a policy of at most ${most} MiB`,
  );
}

// Field numbers of onnx.proto.
const FIELDS = { irVersion: 1, graph: 7, metadata: 14 };

/**
 * Reads the metadata of an ONNX file, which ONNX Runtime does not show in pages.
 *
 * @throws {SyntaxError} If it is none, or it is damaged.
 */
export function readMetadata(bytes: Uint8Array): Record<string, string> {
  const metadata: Record<string, string> = {};
  const reader = new BinaryReader(bytes);
  let isModel = false;
  try {
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (field === FIELDS.graph) isModel = true;
      if (field === FIELDS.metadata && wire === WireType.LengthDelimited) {
        const entry = new BinaryReader(reader.bytes());
        const texts: Record<number, string> = {};
        while (entry.pos < entry.len) {
          const [field, wire] = entry.tag();
          if (wire === WireType.LengthDelimited) texts[field] = entry.string();
          else entry.skip(wire, field);
        }
        metadata[texts[1] ?? ""] = texts[2] ?? "";
      } else reader.skip(wire, field);
    }
    // What is cut off is skipped beyond the end.
    if (reader.pos > reader.len) throw new RangeError("its end is missing");
  } catch {
    throw new SyntaxError(
      bytes[0] === FIELDS.irVersion << 3
        ? "it is damaged or cut off"
        : "it is no ONNX file",
    );
  }
  if (!isModel) throw new SyntaxError("it is no ONNX file");
  return metadata;
}
