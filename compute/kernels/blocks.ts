import * as tf from "@tensorflow/tfjs";
import { sizeOf } from "../graph/graph.ts";
import type { CompositeKernel, Kernels } from "./kernel.ts";

const BATCH_TO_SPACE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { blockShape, crops } = attributes as {
      blockShape: number[];
      crops: number[][];
    };
    const shape = [...x!.shape];
    const product = sizeOf(blockShape);
    const { getReshaped, getPermuted, getReshapedPermuted } = tf.backend_util;
    const split = getReshaped(shape, blockShape, product);
    const perm = getPermuted(split.length, blockShape.length);
    const joined = getReshapedPermuted(shape, blockShape, product);
    const begin = tf.backend_util
      .getSliceBeginCoords(crops, blockShape.length);
    const size = tf.backend_util
      .getSliceSize(joined, crops, blockShape.length);
    const apart = record("Reshape", [x!], { shape: split });
    const turned = record("Transpose", apart, { perm });
    const whole = record("Reshape", turned, { shape: joined });
    return record("Slice", whole, { begin, size });
  },
};

const SPACE_TO_BATCH: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { blockShape, paddings } = attributes as {
      blockShape: number[];
      paddings: [number, number][];
    };
    const product = sizeOf(blockShape);
    const rank = x!.shape.length;
    const all: [number, number][] = Array.from({ length: rank }, () => [0, 0]);
    paddings.forEach((it, i) => all[i + 1] = it);
    const padded = record("PadV2", [x!], { paddings: all, constantValue: 0 });
    const shape = [...padded[0].shape];
    const { getReshaped, getPermuted, getReshapedPermuted } = tf.backend_util;
    const split = getReshaped(shape, blockShape, product, false);
    const perm = getPermuted(split.length, blockShape.length, false);
    const joined = getReshapedPermuted(shape, blockShape, product, false);
    const apart = record("Reshape", padded, { shape: split });
    const turned = record("Transpose", apart, { perm });
    return record("Reshape", turned, { shape: joined });
  },
};

const DEPTH_TO_SPACE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { blockSize, dataFormat } = attributes as {
      blockSize: number;
      dataFormat: string;
    };
    if (dataFormat !== "NHWC") {
      throw new TypeError(
        `Cannot trace depthToSpace of ${dataFormat} data: expected NHWC`,
      );
    }
    const [batch, height, width, depth] = x!.shape;
    const rest = depth / (blockSize * blockSize);
    const apart = record("Reshape", [x!], {
      shape: [batch, height, width, blockSize, blockSize, rest],
    });
    const turned = record("Transpose", apart, { perm: [0, 1, 3, 2, 4, 5] });
    return record("Reshape", turned, {
      shape: [batch, height * blockSize, width * blockSize, rest],
    });
  },
};

/** Kernels that move blocks of images to other axes and back. */
export const BLOCKS: Kernels = {
  BatchToSpaceND: BATCH_TO_SPACE,
  SpaceToBatchND: SPACE_TO_BATCH,
  DepthToSpace: DEPTH_TO_SPACE,
};
