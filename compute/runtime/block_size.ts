import { encodeModel } from "../onnx/protobuf.ts";
import { Session } from "./session.ts";

/** More channels than any machine has in a block. */
const CHANNELS = 64;

let found: number | undefined;

/**
 * Finds the channels that ONNX Runtime's blocked convolutions hold side by side
 * on this machine: 16, 8, or 0 where it has no such convolutions. It has no
 * function for that, so two pixels are put into its layout to see where the
 * second comes to lie.
 */
export function blockSize(): number {
  return found ??= findBlockSize();
}

function findBlockSize(): number {
  const given = Float32Array.from({ length: 2 * CHANNELS }, (_, i) => i);
  const laid = new Float32Array(given.length);
  try {
    reorder(given, laid);
  } catch {
    return 0;
  }
  const size = laid.indexOf(given[CHANNELS]);
  return size >= 4 && size < CHANNELS ? size : 0;
}

/** Lays two pixels of many channels out as blocks. */
function reorder(given: Float32Array, laid: Float32Array): void {
  const dtype = "float32" as const;
  const x = { name: "x", dtype, shape: [1, 1, 2, CHANNELS], data: given };
  const y = { name: "y", dtype, shape: [1, CHANNELS, 1, 2], data: laid };
  const node = {
    op: "ReorderInput",
    domain: "com.microsoft.nchwc",
    inputs: [x.name],
    outputs: [y.name],
    attributes: { channels_last: 1 },
  };
  const model = { inputs: [x], outputs: [y], nodes: [node], initializers: [] };
  const session = new Session(encodeModel(model), { threads: 1 });
  const binding = session.bind([x], [y]);
  binding.run();
  binding.close();
}
