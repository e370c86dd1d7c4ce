/** One call of each kernel, to see what it is lowered to. */
import type {
  Attributes,
  DType,
  TensorType,
} from "../../compute/graph/graph.ts";

/** Arguments of a kernel. */
export interface KernelSample {
  readonly inputs: readonly TensorType[];
  readonly attributes: Attributes;
}

const tensor = (dtype: DType, ...shape: number[]): TensorType => ({
  shape,
  dtype,
});
const float = (...shape: number[]) => tensor("float32", ...shape);
const int = (...shape: number[]) => tensor("int32", ...shape);
const bool = (...shape: number[]) => tensor("bool", ...shape);

const sample = (
  inputs: readonly TensorType[],
  attributes: Attributes = {},
): KernelSample => ({ inputs, attributes });

const IMAGE = float(2, 6, 6, 4);
const FILTER = float(3, 3, 4, 8);
const MADE = float(2, 4, 4, 8);
const CONV = { strides: 1, pad: "valid", dataFormat: "NHWC", dilations: 1 };
const POOL = { filterSize: 2, strides: 2, pad: "valid" };
const POOLED = float(2, 3, 3, 4);
const SCAN = { axis: 0, exclusive: false, reverse: false };
const ACTIVATION = { activation: "relu" };

/** Samples of the kernels that take more than tensors of one shape. */
const SPECIAL: Readonly<Record<string, KernelSample>> = {
  AddN: sample([float(2, 3), float(2, 3), float(2, 3)]),
  All: sample([bool(2, 3)], { axis: 0, keepDims: false }),
  Any: sample([bool(2, 3)], { axis: 0, keepDims: false }),
  AvgPool: sample([IMAGE], POOL),
  AvgPoolGrad: sample([POOLED, IMAGE], POOL),
  BatchMatMul: sample([float(4, 2, 3), float(4, 3, 5)], {
    transposeA: false,
    transposeB: false,
  }),
  BiasedConv2D: sample([IMAGE, FILTER, float(8)], { ...CONV, relu: true }),
  BroadcastTo: sample([float(3)], { shape: [2, 3] }),
  Cast: sample([float(2, 3)], { dtype: "int32" }),
  ClipByValue: sample([float(2, 3)], { clipValueMin: -1, clipValueMax: 1 }),
  Concat: sample([float(2, 3), float(2, 3)], { axis: 0 }),
  Conv2D: sample([IMAGE, FILTER], CONV),
  Conv2DBackpropFilter: sample([IMAGE, MADE], {
    ...CONV,
    filterShape: FILTER.shape,
  }),
  Conv2DBackpropInput: sample([MADE, FILTER], {
    ...CONV,
    inputShape: IMAGE.shape,
  }),
  Cumprod: sample([float(4)], SCAN),
  Cumsum: sample([float(4)], SCAN),
  ExpandDims: sample([float(2, 3)], { dim: 0 }),
  Fill: sample([], { shape: [2], value: 1, dtype: "float32" }),
  FusedBatchNorm: sample(
    [float(2, 3), float(3), float(3), float(3), float(3)],
    { varianceEpsilon: 1e-3 },
  ),
  FusedConv2D: sample([IMAGE, FILTER, float(8)], { ...CONV, ...ACTIVATION }),
  Gather: sample([float(4, 3), int(2)], { axis: 0 }),
  GatherNd: sample([float(4, 3), int(2, 1)]),
  GatherV2: sample([float(4, 3), int(2)], { axis: 0, batchDims: 0 }),
  Gemm: sample([float(2, 3), float(3, 4), float(4)], {
    transposeA: false,
    transposeB: false,
  }),
  LinSpace: sample([], { start: 0, stop: 1, num: 3 }),
  LogicalAnd: sample([bool(2, 3), bool(2, 3)]),
  LogicalNot: sample([bool(2, 3)]),
  LogicalOr: sample([bool(2, 3), bool(2, 3)]),
  MaxPool: sample([IMAGE], POOL),
  MaxPoolGrad: sample([POOLED, IMAGE, POOLED], POOL),
  OneHot: sample([int(3)], {
    depth: 4,
    onValue: 1,
    offValue: 0,
    dtype: "float32",
  }),
  Pack: sample([float(3), float(3)], { axis: 0 }),
  PadV2: sample([float(3)], { paddings: [[1, 1]], constantValue: 0 }),
  Range: sample([], { start: 0, stop: 3, step: 1, dtype: "float32" }),
  Reshape: sample([float(2, 3)], { shape: [6] }),
  Reverse: sample([float(4)], { dims: [0] }),
  ScatterNd: sample([int(2, 1), float(2)], { shape: [4] }),
  Select: sample([bool(2, 3), float(2, 3), float(2, 3)]),
  Slice: sample([float(4)], { begin: [1], size: [2] }),
  Split: sample([float(4)], { axis: 0, sizes: [2, 2] }),
  SplitV: sample([float(4)], { axis: 0, numOrSizeSplits: [2, 2] }),
  Strided: sample([float(4)], {
    begin: [1],
    end: [3],
    strides: [1],
    axes: [0],
    shape: [2],
  }),
  StridedSlice: sample([float(4)], {
    begin: [0],
    end: [4],
    strides: [2],
    beginMask: 0,
    endMask: 0,
    ellipsisMask: 0,
    newAxisMask: 0,
    shrinkAxisMask: 0,
  }),
  TensorScatterUpdate: sample([float(4), int(2, 1), float(2)]),
  TakeRow: sample([float(4, 2), int()]),
  SetRow: sample([float(4, 2), int(), float(2)]),
  Threefry: sample([int(2), int()], { shape: [4], shift: 8 }),
  Tile: sample([float(3)], { reps: [2] }),
  TopK: sample([float(4)], { k: 2, sorted: true }),
  Transpose: sample([float(2, 3)], { perm: [1, 0] }),
  Unpack: sample([float(2, 3)], { axis: 0 }),
  UnsortedSegmentSum: sample([float(4), int(4)], { numSegments: 2 }),
  _FusedMatMul: sample([float(2, 3), float(3, 4), float(4)], {
    transposeA: false,
    transposeB: false,
    ...ACTIVATION,
  }),
};

/** Arguments of the others beside their tensors. */
const SETTINGS = { axis: 0, keepDims: false, alpha: 0.1 };

/** A call of a kernel with that many inputs. */
export function sampleOf(name: string, inputs: number): KernelSample {
  if (Object.hasOwn(SPECIAL, name)) return SPECIAL[name];
  return sample(new Array(inputs).fill(float(2, 3)), SETTINGS);
}
