import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Field numbers of TensorFlow's `ConfigProto` and `GPUOptions`. */
const INTRA_OP_THREADS = 2;
const INTER_OP_THREADS = 5;
const GPU_OPTIONS = 6;
const ALLOW_GROWTH = 4;

/**
 * The serialized `ConfigProto` of a context: how many threads it may use, and
 * that it takes the memory of a GPU as it needs it instead of all at once.
 *
 * @param threads Threads in and between operations; 0 leaves it to TensorFlow.
 */
export function configProto(threads: number): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  if (threads > 0) {
    writer.tag(INTRA_OP_THREADS, WireType.Varint).int32(threads);
    writer.tag(INTER_OP_THREADS, WireType.Varint).int32(threads);
  }
  writer.tag(GPU_OPTIONS, WireType.LengthDelimited).fork();
  writer.tag(ALLOW_GROWTH, WireType.Varint).bool(true);
  writer.join();
  return writer.finish() as Uint8Array<ArrayBuffer>;
}
