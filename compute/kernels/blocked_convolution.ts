import type {
  ModelBuilder,
  OnnxAttributes,
  OnnxNode,
} from "../onnx/model_builder.ts";
import type { Lowering } from "./kernel.ts";
import {
  type ConvInfo,
  dilationsOf,
  outputPadding,
  padsOf,
  stridesOf,
  TO_NCHW,
} from "./windows.ts";

/**
 * Domain of the operations on images in the layout of ONNX Runtime's own
 * convolutions, where blocks of 8 or 16 channels lie side by side: `[batch,
 * channels / block, height, width, block]`. They run at the speed of matrix
 * products and take images and filters as they are, but for the layout. ONNX
 * Runtime turns only convolutions whose filters are constants into them by
 * itself. To it, blocked images have the shape `[batch, channels, height,
 * width]`, whatever their layout.
 */
const NCHWC = "com.microsoft.nchwc";

const BLOCKED = "blocked";

/** Splits a tensor into axes, transposes it, and joins it to a shape. */
function rearrange(
  model: ModelBuilder,
  x: string,
  { split, perm, to }: {
    split: readonly number[];
    perm: readonly number[];
    to: readonly number[];
  },
): string {
  const turned = model.transpose(model.reshape(x, split), perm);
  return model.reshape(turned, to);
}

/** True where channels fill blocks. */
function fillsBlocks(
  { blockSize }: ModelBuilder,
  channels: number,
): boolean {
  return blockSize > 0 && channels > 0 && channels % blockSize === 0;
}

/** Finds the blocked form of images `[batch, height, width, channels]`. */
export function knownBlocked(
  model: ModelBuilder,
  images: string,
): string | undefined {
  return model.formOf(images, BLOCKED);
}

/** Puts images `[batch, height, width, channels]` into blocks. */
function toBlocked(model: ModelBuilder, images: string): string {
  const known = knownBlocked(model, images);
  if (known !== undefined) return known;
  const made = model.op(`${NCHWC}.ReorderInput`, [images], {
    channels_last: 1,
  });
  return model.addForm(images, BLOCKED, made);
}

/** Turns blocked images into `[batch, height, width, channels]`. */
export function fromBlocked(
  model: ModelBuilder,
  blocked: string,
  channels: number,
): string {
  const made = model.op(`${NCHWC}.ReorderOutput`, [blocked], {
    channels,
    channels_last: 1,
  });
  model.addForm(made, BLOCKED, blocked);
  return made;
}

/** A convolution over images whose channels are blocked or fewer than a block. */
interface Folded {
  readonly info: ConvInfo;
  /** Columns of the image that are taken as channels of one. */
  readonly columns: number;
  readonly channels: number;
}

/**
 * Convolves in ONNX Runtime's blocked layout, with a bias and `Relu` if there
 * are any; returns nothing where sizes do not fit.
 */
export function blockedConvolution(
  { model, inputs: [x, filter, ...bias], node }: Lowering<{ relu?: boolean }>,
  info: ConvInfo,
): string | undefined {
  if (!fillsBlocks(model, info.outChannels) || leavesOut(info)) {
    return undefined;
  }
  const folded = fold(model, info);
  if (folded === undefined) return undefined;
  const made = model.op(`${NCHWC}.Conv`, [
    imagesOf(model, x, folded),
    filterOf(model, filter, folded),
    ...bias,
  ], {
    ...attributesOf(folded),
    ...node.attributes.relu ? { activation: "Relu" } : {},
  });
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
    if (fillsBlocks(model, channels)) return { info, columns, channels };
  }
  const isNarrow = inChannels < model.blockSize;
  return isNarrow ? { info, columns: 1, channels: inChannels } : undefined;
}

/** Puts images into blocks; those of fewer channels have one plane for each. */
function imagesOf(
  model: ModelBuilder,
  x: string,
  { info, columns, channels }: Folded,
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
  { info, columns, channels }: Folded,
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

function attributesOf({ info, columns }: Folded): OnnxAttributes {
  const [strideHeight, strideWidth] = stridesOf(info);
  const [top, left, bottom, right] = padsOf(info);
  return {
    strides: [strideHeight, strideWidth / columns],
    pads: [top, left / columns, bottom, right / columns],
    dilations: dilationsOf(info),
  };
}

/**
 * Computes the gradient of a convolution's filter in the blocked layout;
 * returns nothing where sizes do not fit.
 *
 * It is a convolution of images whose channels are the batch and whose columns
 * are the columns and channels of the real images, with the gradient of the
 * output as its filter. What it gives has the filter's own layout: rows,
 * columns, channels.
 */
export function blockedFilterGradient(
  { model, inputs: [x, dy] }: Lowering<unknown>,
  info: ConvInfo,
): string | undefined {
  const { batchSize, inChannels, outChannels } = info;
  const fits = [batchSize, outChannels].every((it) => fillsBlocks(model, it));
  if (!fits || dilates(info)) return undefined;
  const batches = batchesOf(model, x, info);
  const channels = inChannels / batches.count;
  const [top, left, bottom, right] = padsOf(info);
  const made = model.op(`${NCHWC}.Conv`, [
    batches.images,
    gradientsOf(model, dy, info),
  ], {
    dilations: [info.strideHeight, info.strideWidth * channels],
    pads: [top, left * channels, bottom, right * channels],
  });
  const rows = fromBlocked(model, made, outChannels);
  return joinFilters(model, rows, { info, count: batches.count });
}

const dilates = (it: ConvInfo) =>
  it.dilationHeight !== 1 || it.dilationWidth !== 1;

/** Images whose channels are the batch, in blocks. */
interface Batches {
  readonly images: string;
  /** Number of images, each of an equal part of the real channels. */
  readonly count: number;
}

/**
 * Takes the batch as channels: of one image, or of one for each block of
 * channels where these are known.
 */
function batchesOf(model: ModelBuilder, x: string, info: ConvInfo): Batches {
  const { batchSize, inHeight, inWidth, inChannels } = info;
  const blocked = knownBlocked(model, x);
  const count = blocked === undefined ? 1 : inChannels / model.blockSize;
  const width = inWidth * inChannels / count;
  const to = [count, batchSize, inHeight, width];
  const cast = model.nodes.findLast(({ outputs }) => outputs[0] === x);
  if (cast?.op === "Cast") {
    return { images: batchOfCast(model, cast, to), count };
  }
  const split = [batchSize, count, inHeight * width];
  const apart = count === 1
    ? model.reshape(blocked ?? x, to)
    : rearrange(model, blocked!, { split, perm: [1, 0, 2], to });
  return { images: model.op(`${NCHWC}.ReorderInput`, [apart]), count };
}

/** Moves bytes before they are cast: that is four times as fast. */
function batchOfCast(
  model: ModelBuilder,
  { inputs: [x], attributes }: OnnxNode,
  to: readonly number[],
): string {
  const block = model.blockSize;
  const [, batchSize, height, width] = to;
  const split = [batchSize / block, block, height * width];
  const made = rearrange(model, x, { split, perm: [0, 2, 1], to });
  return model.op("Cast", [made], attributes);
}

/**
 * Arranges gradients of the output as a filter with the batch as its inputs.
 */
function gradientsOf(model: ModelBuilder, dy: string, info: ConvInfo): string {
  const block = model.blockSize;
  const { batchSize, outChannels, outHeight, outWidth } = info;
  const places = outHeight * outWidth;
  const [batches, outs] = [batchSize / block, outChannels / block];
  const to = [outChannels, batchSize, outHeight, outWidth];
  const blocked = knownBlocked(model, dy);
  if (blocked === undefined) {
    const split = [batches, block, places, outs, block];
    return rearrange(model, dy, { split, perm: [3, 0, 2, 1, 4], to });
  }
  const split = [batches, block, outs, places, block];
  return rearrange(model, blocked, { split, perm: [2, 0, 3, 1, 4], to });
}

/** Joins parts `[count, rows, columns and channels, out]` to one filter. */
function joinFilters(
  model: ModelBuilder,
  made: string,
  { info, count }: { info: ConvInfo; count: number },
): string {
  const { filterHeight, filterWidth, inChannels, outChannels } = info;
  const channels = inChannels / count;
  const to = [filterHeight, filterWidth, inChannels, outChannels];
  const ends = [filterHeight, filterWidth * channels];
  const whole = cutFilter(model, made, { info, ends });
  if (count === 1) return model.reshape(whole, to);
  const places = filterHeight * filterWidth;
  const split = [count, places, channels * outChannels];
  return rearrange(model, whole, { split, perm: [1, 0, 2], to });
}

/** Cuts off the places beyond the filter that uneven steps leave. */
function cutFilter(
  model: ModelBuilder,
  made: string,
  { info, ends }: { info: ConvInfo; ends: readonly number[] },
): string {
  if (outputPadding(info).every((extra) => extra === 0)) return made;
  return model.slice(made, { starts: [0, 0], ends, axes: [1, 2] });
}

/** One axis of the gradient of the images. */
interface Axis {
  readonly step: number;
  /** Places of the filter that one output of a step sees. */
  readonly taps: number;
  /** Steps that are computed. */
  readonly steps: number;
  /** Padding at the start and at the end. */
  readonly pads: readonly [number, number];
  /** Places before the image that the first step computes. */
  readonly before: number;
  readonly length: number;
}

/**
 * Computes the gradient of a convolution's images in the blocked layout;
 * returns nothing where sizes do not fit.
 *
 * It is a convolution of the output's gradient with the turned filter. Of steps
 * that divide the filter, each place within a step is computed as a channel of
 * its own, and all are then laid side by side.
 */
export function blockedInputGradient(
  { model, inputs: [dy, filter] }: Lowering<unknown>,
  info: ConvInfo,
): string | undefined {
  const { inChannels, outChannels } = info;
  const fits = [inChannels, outChannels].every((it) => fillsBlocks(model, it));
  if (!fits || dilates(info)) return undefined;
  const [rows, columns] = axesOf(info);
  if (rows === undefined || columns === undefined) return undefined;
  const axes = { rows, columns };
  const made = model.op(`${NCHWC}.Conv`, [
    toBlocked(model, dy),
    turnedFilter(model, filter, { info, ...axes }),
  ], {
    pads: [rows.pads[0], columns.pads[0], rows.pads[1], columns.pads[1]],
  });
  const beside = sideBySide(model, made, { info, ...axes });
  return fromBlocked(model, beside, inChannels);
}

function axesOf(info: ConvInfo): (Axis | undefined)[] {
  const { padInfo: { top, left }, outHeight, outWidth } = info;
  const { strideHeight, filterHeight, strideWidth, filterWidth } = info;
  return [
    axisOf(strideHeight, filterHeight, [top, outHeight, info.inHeight]),
    axisOf(strideWidth, filterWidth, [left, outWidth, info.inWidth]),
  ];
}

function axisOf(
  step: number,
  filter: number,
  [pad, out, length]: readonly [number, number, number],
): Axis | undefined {
  if (filter % step !== 0) return undefined;
  const taps = filter / step;
  const first = Math.floor(pad / step);
  const steps = Math.ceil((pad + length) / step) - first;
  const start = taps - 1 - first;
  const end = steps - out - start + taps - 1;
  // ONNX Runtime takes no window that lies in the padding alone.
  if ([start, end].some((it) => it < 0 || it >= taps)) return undefined;
  const before = pad - first * step;
  return { step, taps, steps, pads: [start, end], before, length };
}

interface Axes {
  readonly info: ConvInfo;
  readonly rows: Axis;
  readonly columns: Axis;
}

/**
 * Turns filters `[height, width, in, out]` around, to take outputs and make
 * inputs: for each place within a step, a filter of its own.
 */
function turnedFilter(
  model: ModelBuilder,
  filter: string,
  { info, rows, columns }: Axes,
): string {
  const block = model.blockSize;
  const { filterHeight, filterWidth, inChannels, outChannels } = info;
  const places = filterHeight * filterWidth;
  const shape = [places, inChannels, outChannels];
  const swapped = rearrange(model, filter, {
    split: shape,
    perm: [0, 2, 1],
    to: [places, outChannels, inChannels],
  });
  const order = model.ints(turnedPlaces(rows, columns));
  const turned = model.op("Gather", [swapped, order], { axis: 0 });
  const phases = rows.step * columns.step;
  const taps = rows.taps * columns.taps;
  const [ins, outs] = [inChannels / block, outChannels / block];
  return rearrange(model, turned, {
    split: [phases, taps, outs, block, ins, block],
    perm: [0, 4, 2, 1, 3, 5],
    to: [phases * inChannels, outChannels, rows.taps, columns.taps],
  });
}

/**
 * Lists the places of a filter by the place within a step, last steps first.
 */
function turnedPlaces(rows: Axis, columns: Axis): number[] {
  const width = columns.taps * columns.step;
  const placesOf = ({ step, taps }: Axis) =>
    range(step).map((phase) =>
      range(taps).reverse().map((tap) => tap * step + phase)
    );
  return placesOf(rows).flatMap((inRows) =>
    placesOf(columns).flatMap((inColumns) =>
      inRows.flatMap((row) => inColumns.map((column) => row * width + column))
    )
  );
}

const range = (length: number) => Array.from({ length }, (_, i) => i);

/**
 * Lays blocked images side by side that were computed for each place of a step.
 */
function sideBySide(
  model: ModelBuilder,
  made: string,
  { info: { batchSize, inChannels, inHeight, inWidth }, rows, columns }: Axes,
): string {
  if (rows.step === 1 && columns.step === 1) return made;
  const block = model.blockSize;
  const blocks = inChannels / block;
  const height = rows.steps * rows.step;
  const width = columns.steps * columns.step;
  const beside = rearrange(model, made, {
    split: [
      batchSize,
      rows.step,
      columns.step,
      blocks,
      rows.steps,
      columns.steps,
      block,
    ],
    perm: [0, 3, 4, 1, 5, 2, 6],
    to: [batchSize * blocks, height, width, block],
  });
  const starts = [rows.before, columns.before];
  const ends = [rows.before + rows.length, columns.before + columns.length];
  const isWhole = height === inHeight && width === inWidth;
  const cut = isWhole
    ? beside
    : model.slice(beside, { starts, ends, axes: [1, 2] });
  return model.reshape(cut, [batchSize, inChannels, inHeight, inWidth]);
}
