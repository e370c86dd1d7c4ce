import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** XLA's flags of one program, such as `xla_backend_optimization_level`. */
export type XlaFlags = Readonly<Record<string, string | number | boolean>>;

/** Numbers of the fields of `CompileOptionsProto` and the messages in it. */
const FIELD = {
  buildOptions: 3,
  overrides: 7,
  deviceOrdinal: 1,
  replicas: 4,
  partitions: 5,
} as const;

/** Any device. */
const NO_ORDINAL = -1;

/** Encodes a `CompileOptionsProto` for one device. */
export function encodeCompileOptions(
  flags: XlaFlags = {},
): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  const { Varint, LengthDelimited } = WireType;
  writer.tag(FIELD.buildOptions, LengthDelimited).fork()
    .tag(FIELD.deviceOrdinal, Varint).int64(NO_ORDINAL)
    .tag(FIELD.replicas, Varint).int64(1)
    .tag(FIELD.partitions, Varint).int64(1)
    .join();
  for (const [name, value] of Object.entries(flags)) {
    // An entry of a map: the name, then an OptionOverrideProto.
    writer.tag(FIELD.overrides, LengthDelimited).fork()
      .tag(1, LengthDelimited).string(name)
      .tag(2, LengthDelimited).fork();
    writeFlag(writer, value);
    writer.join().join();
  }
  return new Uint8Array(writer.finish());
}

/** Writes the one field of an `OptionOverrideProto` that is set. */
function writeFlag(writer: BinaryWriter, value: string | number | boolean) {
  const { Varint, LengthDelimited, Bit64 } = WireType;
  if (typeof value === "string") writer.tag(1, LengthDelimited).string(value);
  else if (typeof value === "boolean") writer.tag(2, Varint).bool(value);
  else if (Number.isInteger(value)) writer.tag(3, Varint).int64(value);
  else writer.tag(4, Bit64).double(value);
}
