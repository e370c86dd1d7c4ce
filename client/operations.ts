import {
  BOOL,
  FLOAT,
  INT32,
  INT64,
  type Numbers,
  type OnnxNode,
  type Tensor,
} from "./onnx_file.ts";

/** Computes an operation: tensors and attributes to one tensor or several. */
export type Operation = (
  inputs: readonly Tensor[],
  attributes: OnnxNode["attributes"],
) => Tensor | Tensor[];

const sizeOf = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

/** Most numbers of a tensor: a damaged file could want any number. */
export const MOST_NUMBERS = 2 ** 28;

function checkLength(length: number): void {
  if (!(length <= MOST_NUMBERS)) throw new RangeError("too many numbers");
}

/** Throws where lengths differ that have to be the same. */
function checkSame(a: number, b: number): void {
  if (a !== b) throw new RangeError(`lengths ${a} and ${b}`);
}

/** Makes an array of the same type. */
function like(data: Numbers, length: number): Numbers {
  checkLength(length);
  return new (data.constructor as new (length: number) => Numbers)(length);
}

/** Index of an axis, which may be counted from the last one. */
const axisOf = (axis: number, { shape }: Tensor) =>
  axis < 0 ? axis + shape.length : axis;

/** Lengths before, at and after an axis. */
function around(
  { shape }: Tensor,
  axis: number,
): [before: number, length: number, after: number] {
  return [
    sizeOf(shape.slice(0, axis)),
    shape[axis],
    sizeOf(shape.slice(axis + 1)),
  ];
}

/** The shape that tensors are stretched to. */
function broadcastShape(...shapes: (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map((it) => it.length));
  return Array.from({ length: rank }, (_, i) => {
    const lengths = shapes.map((it) => it[i - rank + it.length] ?? 1);
    const found = lengths.find((it) => it !== 1) ?? 1;
    for (const it of lengths) if (it !== 1) checkSame(it, found);
    return found;
  });
}

/** Index of each element of a shape in a tensor that is stretched to it. */
function indices(
  { shape }: Tensor,
  to: readonly number[],
): (index: number) => number {
  const size = sizeOf(shape);
  if (size === sizeOf(to)) return (index) => index;
  if (size === 1) return () => 0;
  const steps = to.map(() => 0);
  for (let i = shape.length - 1, step = 1; i >= 0; step *= shape[i--]) {
    steps[i + to.length - shape.length] = shape[i] === 1 ? 0 : step;
  }
  return (index) => {
    let from = 0, left = index;
    for (let i = to.length - 1; i >= 0; i--) {
      from += (left % to[i]) * steps[i];
      left = Math.floor(left / to[i]);
    }
    return from;
  };
}

/** An operation on each element, whose result has the type of the input. */
const unary = (compute: (x: number) => number): Operation => ([x]) => {
  const data = x.data.slice();
  for (let i = 0; i < data.length; i++) data[i] = compute(data[i]);
  return { shape: x.shape, data };
};

/** An operation on pairs of elements. */
const binary = (
  compute: (a: number, b: number) => number,
  isLogical = false,
): Operation =>
([a, b]) => {
  const shape = broadcastShape(a.shape, b.shape), size = sizeOf(shape);
  const data = isLogical ? new Uint8Array(size) : like(a.data, size);
  const left = a.data, right = b.data;
  if (left.length === size && right.length === size) {
    for (let i = 0; i < size; i++) data[i] = compute(left[i], right[i]);
    return { shape, data };
  }
  const inA = indices(a, shape), inB = indices(b, shape);
  for (let i = 0; i < size; i++) {
    data[i] = compute(left[inA(i)], right[inB(i)]);
  }
  return { shape, data };
};

const logical = (compute: (a: number, b: number) => boolean): Operation =>
  binary((a, b) => +compute(a, b), true);

/** A product of matrices `[m, k]` and `[k, n]`, and an addend `[n]` or `[m, n]`. */
function product(a: Tensor, b: Tensor, c?: Tensor, transB = 0): Tensor {
  const [m, k] = a.shape, n = b.shape[transB === 0 ? 1 : 0];
  checkSame(k, b.shape[transB]);
  checkLength(m * n);
  const data = new Float32Array(m * n), sums = new Float64Array(n);
  if (c) checkSame(sizeOf(broadcastShape(c.shape, [m, n])), m * n);
  const addend = c && indices(c, [m, n]), rows = a.data, factors = b.data;
  // Places of a factor's next row and next column.
  const [down, right] = transB === 0 ? [n, 1] : [1, k];
  for (let row = 0; row < m; row++) {
    for (let j = 0; j < n; j++) {
      sums[j] = addend === undefined ? 0 : c!.data[addend(row * n + j)];
    }
    for (let i = 0; i < k; i++) {
      const x = rows[row * k + i];
      if (x === 0) continue;
      for (let j = 0, at = i * down; j < n; j++, at += right) {
        sums[j] += x * factors[at];
      }
    }
    data.set(sums, row * n);
  }
  return { shape: [m, n], data };
}

/** Products of the matrices in the last two axes; the others are alike. */
const matMul: Operation = ([a, b]) => {
  const [m, k] = a.shape.slice(-2), n = b.shape.at(-1)!;
  const shape = [...a.shape.slice(0, -1), n];
  const data = new Float32Array(sizeOf(shape));
  for (let i = 0; i * m * n < data.length; i++) {
    const own = a.data.subarray(i * m * k, (i + 1) * m * k);
    // One matrix, or one for each.
    const at = b.shape.length === 2 ? 0 : i;
    checkSame(k, b.shape.at(-2)!);
    const factor = b.data.subarray(at * k * n, (at + 1) * k * n);
    const result = product(
      { shape: [m, k], data: own },
      { shape: [k, n], data: factor },
    );
    data.set(result.data, i * m * n);
  }
  return { shape, data };
};

const transpose: Operation = ([x], { perm }) => {
  const order = perm as readonly number[] ??
    x.shape.map((_, i) => x.shape.length - 1 - i);
  const shape = order.map((axis) => x.shape[axis]);
  const steps = x.shape.map((_, i) => sizeOf(x.shape.slice(i + 1)));
  const data = like(x.data, x.data.length);
  for (let i = 0; i < data.length; i++) {
    let from = 0, left = i;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += (left % shape[axis]) * steps[order[axis]];
      left = Math.floor(left / shape[axis]);
    }
    data[i] = x.data[from];
  }
  return { shape, data };
};

/** A convolution of images `[batch, channels, height, width]` by `[out, channels, ...]`. */
const convolve: Operation = ([x, w, bias], attributes) => {
  const { strides, pads, dilations } = {
    ...{ strides: [1, 1], pads: [0, 0, 0, 0], dilations: [1, 1] },
    ...attributes,
  } as Record<string, readonly number[]>;
  const [batch, channels, height, width] = x.shape;
  const [outputs, inputs, kernelHeight, kernelWidth] = w.shape;
  checkSame(channels, inputs);
  const lengthOf = (length: number, kernel: number, axis: number) =>
    Math.floor(
      (length + pads[axis] + pads[axis + 2] - dilations[axis] * (kernel - 1) -
        1) / strides[axis],
    ) + 1;
  const rows = lengthOf(height, kernelHeight, 0);
  const columns = lengthOf(width, kernelWidth, 1);
  checkLength(batch * outputs * rows * columns);
  const data = new Float32Array(batch * outputs * rows * columns);
  const sumAt = (image: number, output: number, top: number, left: number) => {
    let sum = bias === undefined ? 0 : bias.data[output];
    for (let channel = 0; channel < channels; channel++) {
      const plane = (image * channels + channel) * height;
      const kernel = (output * channels + channel) * kernelHeight;
      for (let i = 0; i < kernelHeight; i++) {
        const y = top + i * dilations[0];
        if (y < 0 || y >= height) continue;
        for (let j = 0; j < kernelWidth; j++) {
          const at = left + j * dilations[1];
          if (at < 0 || at >= width) continue;
          sum += x.data[(plane + y) * width + at] *
            w.data[(kernel + i) * kernelWidth + j];
        }
      }
    }
    return sum;
  };
  let index = 0;
  for (let image = 0; image < batch; image++) {
    for (let output = 0; output < outputs; output++) {
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const top = row * strides[0] - pads[0];
          const left = column * strides[1] - pads[1];
          data[index++] = sumAt(image, output, top, left);
        }
      }
    }
  }
  return { shape: [batch, outputs, rows, columns], data };
};

/** Takes some places of one axis. */
function take(x: Tensor, axis: number, places: readonly number[]): Tensor {
  const [before, length, after] = around(x, axis);
  const data = like(x.data, before * places.length * after);
  let at = 0;
  for (let i = 0; i < before; i++) {
    for (const place of places) {
      if (!(place >= 0 && place < length)) {
        throw new RangeError("no such place");
      }
      const from = (i * length + place) * after;
      data.set(x.data.subarray(from, from + after), at);
      at += after;
    }
  }
  return { shape: x.shape.with(axis, places.length), data };
}

function range(length: number, start = 0, step = 1): number[] {
  checkLength(length * 16);
  return Array.from(
    { length: Math.max(0, length) },
    (_, i) => start + i * step,
  );
}

const slice: Operation = ([x, starts, ends, axes, steps]) =>
  [...starts.data].reduce((sliced, start, i) => {
    const axis = axisOf(axes?.data[i] ?? i, x), step = steps?.data[i] ?? 1;
    const length = sliced.shape[axis];
    const [lowest, highest] = step > 0 ? [0, length] : [-1, length - 1];
    const clip = (at: number) =>
      Math.max(lowest, Math.min(highest, at < 0 ? at + length : at));
    const from = clip(start),
      count = Math.ceil((clip(ends.data[i]) - from) / step);
    return take(sliced, axis, range(count, from, step));
  }, x);

const split: Operation = ([x, sizes], attributes) => {
  const axis = axisOf((attributes.axis ?? 0) as number, x);
  let start = 0;
  return [...sizes.data].map((size) =>
    take(x, axis, range(size, (start += size) - size))
  );
};

const concat: Operation = (inputs, attributes) => {
  const axis = axisOf(attributes.axis as number, inputs[0]);
  const length = inputs.reduce((sum, { shape }) => sum + shape[axis], 0);
  const [before, , after] = around(inputs[0], axis);
  const data = like(inputs[0].data, before * length * after);
  let at = 0;
  for (let i = 0; i < before; i++) {
    for (const { shape, data: own } of inputs) {
      const size = shape[axis] * after;
      data.set(own.subarray(i * size, (i + 1) * size), at);
      at += size;
    }
  }
  return { shape: inputs[0].shape.with(axis, length), data };
};

const gather: Operation = ([x, places], attributes) => {
  const axis = axisOf((attributes.axis ?? 0) as number, x);
  const found = [...places.data].map((it) => it < 0 ? it + x.shape[axis] : it);
  const shape = x.shape.toSpliced(axis, 1, ...places.shape);
  return { shape, data: take(x, axis, found).data };
};

/** An operation that makes one number of those along an axis. */
function along(
  x: Tensor,
  axis: number,
  reduce: (at: (i: number) => number, length: number) => number,
  data: Numbers = like(x.data, x.data.length / x.shape[axis]),
): Numbers {
  const [before, length, after] = around(x, axis);
  for (let i = 0; i < before; i++) {
    for (let j = 0; j < after; j++) {
      const first = i * length * after + j;
      data[i * after + j] = reduce((k) => x.data[first + k * after], length);
    }
  }
  return data;
}

type Reduce = Parameters<typeof along>[2];

/** A reduction of the axes that its second input names, all without one. */
const reduction = (reduce: Reduce): Operation => ([x, axes], { keepdims }) => {
  const named = [...axes?.data ?? range(x.shape.length)];
  const found = named.map((it) => axisOf(it, x));
  const reduced = found.reduce<Tensor>((it, axis) => ({
    shape: it.shape.with(axis, 1),
    data: along(it, axis, reduce),
  }), x);
  if (keepdims !== 0) return reduced;
  const shape = reduced.shape.filter((_, i) => !found.includes(i));
  return { shape, data: reduced.data };
};

const sum: Reduce = (at, length) => {
  let total = 0;
  for (let i = 0; i < length; i++) total += at(i);
  return total;
};
const largest: Reduce = (at, length) => {
  let found = at(0);
  for (let i = 1; i < length; i++) found = Math.max(found, at(i));
  return found;
};

const argMax: Operation = ([x], attributes) => {
  const axis = axisOf((attributes.axis ?? 0) as number, x);
  const first: Reduce = (at, length) => {
    let found = 0;
    for (let i = 1; i < length; i++) if (at(i) > at(found)) found = i;
    return found;
  };
  const size = x.data.length / x.shape[axis];
  const data = along(x, axis, first, new Int32Array(size));
  const shape = attributes.keepdims === 0
    ? x.shape.toSpliced(axis, 1)
    : x.shape.with(axis, 1);
  return { shape, data };
};

/** Replaces the numbers along an axis, in place of a copy. */
function rows(
  x: Tensor,
  axis: number,
  change: (row: Float64Array) => void,
): Tensor {
  const [before, length, after] = around(x, axis);
  const data = x.data.slice(), row = new Float64Array(length);
  for (let i = 0; i < before; i++) {
    for (let j = 0; j < after; j++) {
      const first = i * length * after + j;
      for (let k = 0; k < length; k++) row[k] = x.data[first + k * after];
      change(row);
      for (let k = 0; k < length; k++) data[first + k * after] = row[k];
    }
  }
  return { shape: x.shape, data };
}

/** Softmax along an axis, or its logarithm. */
const softmax = (isLog: boolean): Operation => ([x], attributes) =>
  rows(x, axisOf((attributes.axis ?? -1) as number, x), (row) => {
    const highest = Math.max(...row);
    let total = 0;
    for (const it of row) total += Math.exp(it - highest);
    const shift = highest + Math.log(total);
    row.forEach((it, i) => row[i] = isLog ? it - shift : Math.exp(it - shift));
  });

const cumulativeSum: Operation = ([x, axis], { exclusive, reverse }) =>
  rows(x, axisOf(axis.data[0], x), (row) => {
    let total = 0;
    for (let i = 0; i < row.length; i++) {
      const at = reverse === 1 ? row.length - 1 - i : i, own = row[at];
      row[at] = exclusive === 1 ? total : total + own;
      total += own;
    }
  });

function expand(x: Tensor, to: readonly number[]): Tensor {
  const shape = broadcastShape(x.shape, to), from = indices(x, shape);
  const data = like(x.data, sizeOf(shape));
  for (let i = 0; i < data.length; i++) data[i] = x.data[from(i)];
  return { shape, data };
}

const reshape: Operation = ([x, to], { allowzero }) => {
  const wanted = [...to.data].map((length, i) =>
    length === 0 && allowzero !== 1 ? x.shape[i] : length
  );
  const known = wanted.filter((it) => it >= 0).reduce((a, b) => a * b, 1);
  const shape = wanted.map((it) => it < 0 ? x.data.length / known : it);
  checkSame(sizeOf(shape), x.data.length);
  return { shape, data: x.data };
};

const where: Operation = ([condition, a, b]) => {
  const shape = broadcastShape(condition.shape, a.shape, b.shape);
  const data = like(a.data, sizeOf(shape));
  const [inC, inA, inB] = [condition, a, b].map((it) => indices(it, shape));
  for (let i = 0; i < data.length; i++) {
    data[i] = condition.data[inC(i)] ? a.data[inA(i)] : b.data[inB(i)];
  }
  return { shape, data };
};

/** Attributes that change nothing where they are these numbers. */
const DEFAULTS: Readonly<Record<string, Record<string, number>>> = {
  ArgMax: { select_last_index: 0 },
  Conv: { group: 1 },
  Elu: { alpha: 1 },
  Gemm: { alpha: 1, beta: 1, transA: 0 },
  ReduceMax: { noop_with_empty_axes: 0 },
  ReduceMean: { noop_with_empty_axes: 0 },
  ReduceSum: { noop_with_empty_axes: 0 },
};

/** Attributes that the operations take. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  ArgMax: ["axis", "keepdims"],
  Cast: ["to"],
  Concat: ["axis"],
  Conv: ["strides", "pads", "dilations", "kernel_shape"],
  CumSum: ["exclusive", "reverse"],
  Gather: ["axis"],
  Gemm: ["transB"],
  LogSoftmax: ["axis"],
  ReduceMax: ["keepdims"],
  ReduceMean: ["keepdims"],
  ReduceSum: ["keepdims"],
  Reshape: ["allowzero"],
  Shape: ["start", "end"],
  Softmax: ["axis"],
  Split: ["axis"],
  Transpose: ["perm"],
};

/** Types that `Cast` makes. */
const MADE = [FLOAT, INT32, INT64, BOOL];

/** Throws for an operation in a form that is not computed here. */
export function checkNode({ op, attributes }: OnnxNode): void {
  if (!Object.hasOwn(OPERATIONS, op)) {
    throw new SyntaxError(
      `it has the operation ${op}, which is none of policies`,
    );
  }
  const known = ATTRIBUTES[op] ?? [], defaults = DEFAULTS[op] ?? {};
  for (const [name, value] of Object.entries(attributes)) {
    const isKnown = op === "Cast"
      ? MADE.includes(value as number)
      : known.includes(name) || defaults[name] === value;
    if (isKnown) continue;
    throw new SyntaxError(
      `it has the operation ${op} with ${name} ${value}, which none of policies has`,
    );
  }
}

const cast: Operation = ([x], { to }) => ({
  shape: x.shape,
  data: to === FLOAT
    ? Float32Array.from(x.data)
    : to === BOOL
    ? Uint8Array.from(x.data, (it) => +(it !== 0))
    : Int32Array.from(x.data, Math.trunc),
});

const clip: Operation = ([x, low, high]) => {
  const least = low?.data[0] ?? -Infinity, most = high?.data[0] ?? Infinity;
  return {
    shape: x.shape,
    data: x.data.map((it) => Math.min(most, Math.max(least, it))) as Numbers,
  };
};

/** Shape without some axes: those of length 1 where none are named. */
const squeeze: Operation = ([x, axes]) => {
  const named = axes && [...axes.data].map((it) => axisOf(it, x));
  const shape = x.shape.filter((length, i) =>
    named === undefined ? length !== 1 : !named.includes(i)
  );
  return { shape, data: x.data };
};

const unsqueeze: Operation = ([x, axes]) => {
  const rank = x.shape.length + axes.data.length;
  const added = [...axes.data].map((it) => it < 0 ? it + rank : it).sort();
  const shape = [...x.shape];
  for (const axis of added) shape.splice(axis, 0, 1);
  return { shape, data: x.data };
};

/** The error function, to 1.2e-7: Numerical Recipes, section 6.2. */
function erf(x: number): number {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  const factors = [
    0.17087277,
    -0.82215223,
    1.48851587,
    -1.13520398,
    0.27886807,
    -0.18628806,
    0.09678418,
    0.37409196,
    1.00002368,
    -1.26551223,
  ];
  const series = factors.reduce((all, it) => all * t + it, 0);
  const rest = t * Math.exp(-x * x + series);
  return x >= 0 ? 1 - rest : rest - 1;
}

/** The operations, by their names in ONNX's operator set 18. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  Abs: unary(Math.abs),
  Add: binary((a, b) => a + b),
  And: logical((a, b) => a !== 0 && b !== 0),
  ArgMax: argMax,
  Cast: cast,
  Ceil: unary(Math.ceil),
  Clip: clip,
  Concat: concat,
  Conv: convolve,
  CumSum: cumulativeSum,
  Div: ([a, b], attributes) =>
    a.data instanceof Float32Array
      ? binary((a, b) => a / b)([a, b], attributes)
      : binary((a, b) => Math.trunc(a / b))([a, b], attributes),
  Elu: unary((x) => x < 0 ? Math.expm1(x) : x),
  Equal: logical((a, b) => a === b),
  Erf: unary(erf),
  Exp: unary(Math.exp),
  Expand: ([x, shape]) => expand(x, [...shape.data]),
  Floor: unary(Math.floor),
  Gather: gather,
  Gemm: ([a, b, c], { transB = 0 }) => product(a, b, c, transB as number),
  Greater: logical((a, b) => a > b),
  GreaterOrEqual: logical((a, b) => a >= b),
  Identity: ([x]) => x,
  IsNaN: ([{ shape, data }]) => ({
    shape,
    data: Uint8Array.from(data, (it) => +Number.isNaN(it)),
  }),
  Less: logical((a, b) => a < b),
  LessOrEqual: logical((a, b) => a <= b),
  Log: unary(Math.log),
  LogSoftmax: softmax(true),
  MatMul: matMul,
  Max: (inputs, attributes) =>
    inputs.reduce((a, b) => binary(Math.max)([a, b], attributes) as Tensor),
  Min: (inputs, attributes) =>
    inputs.reduce((a, b) => binary(Math.min)([a, b], attributes) as Tensor),
  Mul: binary((a, b) => a * b),
  Neg: unary((x) => -x),
  Not: unary((x) => +(x === 0)),
  Or: logical((a, b) => a !== 0 || b !== 0),
  Pow: binary(Math.pow),
  Range: ([start, limit, delta]) => {
    const [from, to, by] = [start, limit, delta].map(({ data }) => data[0]);
    const places = range(Math.ceil((to - from) / by), from, by);
    const data = like(start.data, places.length);
    data.set(places);
    return { shape: [places.length], data };
  },
  Reciprocal: unary((x) => 1 / x),
  ReduceMax: reduction(largest),
  ReduceMean: reduction((at, length) => sum(at, length) / length),
  ReduceSum: reduction(sum),
  Relu: unary((x) => Math.max(0, x)),
  Reshape: reshape,
  Shape: ([{ shape }], { start, end }) => {
    const data = Int32Array.from(shape.slice(start as number, end as number));
    return { shape: [data.length], data };
  },
  Sigmoid: unary((x) => 1 / (1 + Math.exp(-x))),
  Sign: unary(Math.sign),
  Slice: slice,
  Softmax: softmax(false),
  Softplus: unary((x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))),
  Split: split,
  Sqrt: unary(Math.sqrt),
  Squeeze: squeeze,
  Sub: binary((a, b) => a - b),
  Tanh: unary(Math.tanh),
  Transpose: transpose,
  Unsqueeze: unsqueeze,
  Where: where,
};
