import type { ModelBuilder, OnnxAttributes } from "../onnx/model_builder.ts";
import {
  fillsBlocks,
  fromBlocked,
  NCHWC,
  rearrange,
  toBlocked,
} from "./blocked_layout.ts";
import type { Lowering } from "./kernel.ts";
import {
  type ConvInfo,
  dilationsOf,
  outputPadding,
  padsOf,
  stridesOf,
  TO_NCHW,
} from "./windows.ts";

/** A convolution over images whose channels are blocked or fewer than a block. */
interface Folded {
  /** Columns of the image that are taken as channels of one. */
  readonly columns: number;
  readonly channels: number;
}

/**
 * Convolves in ONNX Runtime's blocked layout, with a bias and `Relu` if there
 * are any; returns nothing where sizes do not fit.
 */
export function blockedConvolution(
  { model, inputs: [x, filter, ...bias], node }: Lowering<unknown>,
  { info, relu = false }: { info: ConvInfo; relu?: boolean },
): string | undefined {
  if (!node.inputs.every(({ dtype }) => dtype === "float32")) return undefined;
  if (!fillsBlocks(model, info.outChannels) || leavesOut(info)) {
    return undefined;
  }
  const folded = fold(model, info);
  if (folded === undefined) return undefined;
  const made = model.op(`${NCHWC}.Conv`, [
    imagesOf(model, x, { info, folded }),
    filterOf(model, filter, { info, folded }),
    ...bias,
  ], { ...attributesOf(info, folded), ...relu ? { activation: "Relu" } : {} });
  return fromBlocked(model, made, info.outChannels);
}

/** True where TensorFlow.js leaves out windows that ONNX counts. */
function leavesOut(info: ConvInfo): boolean {
  const [height, width] = outputPadding(info);
  return height >= info.strideHeight || width >= info.strideWidth;
}

/**
 * Takes columns as channels so that these fill blocks: the columns that each
 * step passes at once, such as 4 of a frame with 4 channels and steps of 4.
 */
function fold(model: ModelBuilder, info: ConvInfo): Folded | undefined {
  const { inChannels, strideWidth, filterWidth, inWidth } = info;
  const pads = padsOf(info);
  const lengths = [strideWidth, filterWidth, inWidth, pads[1], pads[3]];
  const most = info.dilationWidth === 1 ? strideWidth : 1;
  for (let columns = 1; columns <= most; columns++) {
    if (lengths.some((it) => columns > 1 && it % columns !== 0)) continue;
    const channels = inChannels * columns;
    if (fillsBlocks(model, channels)) return { columns, channels };
  }
  const isNarrow = inChannels < model.blockSize;
  return isNarrow ? { columns: 1, channels: inChannels } : undefined;
}

interface Sizes {
  readonly info: ConvInfo;
  readonly folded: Folded;
}

/** Puts images into blocks; those of fewer channels have one plane for each. */
function imagesOf(
  model: ModelBuilder,
  x: string,
  { info, folded: { columns, channels } }: Sizes,
): string {
  if (!fillsBlocks(model, channels)) {
    return model.transpose(x, TO_NCHW);
  }
  if (columns === 1) return toBlocked(model, x);
  const { batchSize, inHeight } = info;
  const width = info.inWidth / columns;
  if (channels > model.blockSize) {
    const wide = [batchSize, inHeight, width, channels];
    return toBlocked(model, model.reshape(x, wide));
  }
  // One block lies in memory as the columns do.
  return model.reshape(x, [batchSize, channels, inHeight, width]);
}

/** Arranges filters `[height, width, in, out]` for the blocked operation. */
function filterOf(
  model: ModelBuilder,
  filter: string,
  { info, folded: { columns, channels } }: Sizes,
): string {
  const block = model.blockSize;
  const { filterHeight, outChannels } = info;
  const filterWidth = info.filterWidth / columns;
  const places = filterHeight * filterWidth;
  const outBlocks = outChannels / block;
  const to = [outChannels, channels, filterHeight, filterWidth];
  if (!fillsBlocks(model, channels)) {
    const split = [places, channels, outBlocks, block];
    return rearrange(model, filter, { split, perm: [2, 1, 0, 3], to });
  }
  const split = [places, channels / block, block, outBlocks, block];
  return rearrange(model, filter, { split, perm: [3, 1, 0, 2, 4], to });
}

function attributesOf(info: ConvInfo, { columns }: Folded): OnnxAttributes {
  const [strideHeight, strideWidth] = stridesOf(info);
  const [top, left, bottom, right] = padsOf(info);
  return {
    strides: [strideHeight, strideWidth / columns],
    pads: [top, left / columns, bottom, right / columns],
    dilations: dilationsOf(info),
  };
}
