/** TensorBoard's event files: records of protocol buffers with checksums. */
import { crc32c } from "@aws-crypto/crc32c";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Statistics } from "@bellman/types";

/** The part of TensorFlow's `Event` message that is written here. */
export interface TensorBoardEvent {
  /** Seconds since 1970. */
  wallTime: number;
  step?: number;
  fileVersion?: string;
  scalars?: Statistics;
  /** Marks a restart: readers drop what was at `step` and later before. */
  sessionStart?: boolean;
}

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
const event = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, session: 7 };
const summary = { value: 1 };
const value = { tag: 1, simpleValue: 2 };
const session = { status: 1, start: 1 };

/** How a field is written, by its wire type. */
const wire = { varint: 0, bit64: 1, lengthDelimited: 2, bit32: 5 };

/** The bytes of an event as a record: length, checksum, event, checksum. */
export function encodeRecord(message: TensorBoardEvent): Uint8Array {
  const data = encodeEvent(message);
  const record = new Uint8Array(16 + data.length);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return record;
}

/** The checksum as record files store it: rotated and offset. */
export function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function encodeEvent(message: TensorBoardEvent): Uint8Array {
  const { wallTime, step, fileVersion, scalars, sessionStart } = message;
  const writer = new BinaryWriter();
  writer.tag(event.wallTime, wire.bit64).double(wallTime);
  if (step !== undefined) writer.tag(event.step, wire.varint).int64(step);
  if (fileVersion !== undefined) {
    writer.tag(event.fileVersion, wire.lengthDelimited).string(fileVersion);
  }
  if (scalars !== undefined) {
    writer.tag(event.summary, wire.lengthDelimited).fork();
    for (const [name, scalar] of Object.entries(scalars)) {
      writer.tag(summary.value, wire.lengthDelimited).fork()
        .tag(value.tag, wire.lengthDelimited).string(name)
        .tag(value.simpleValue, wire.bit32).float(scalar)
        .join();
    }
    writer.join();
  }
  if (sessionStart) {
    writer.tag(event.session, wire.lengthDelimited).fork()
      .tag(session.status, wire.varint).int32(session.start).join();
  }
  return writer.finish();
}
