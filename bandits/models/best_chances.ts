/** Chances that one of several independent random numbers is the largest. */

/**
 * Gauss-Kronrod rule of 15 points, the upper half: nodes, their weights, and those of the
 * Gauss rule on every second node.
 */
const RULE = [
  [0.991455371120812639, 0.022935322010529225, 0],
  [0.949107912342758525, 0.063092092629978553, 0.129484966168869693],
  [0.864864423359769073, 0.104790010322250184, 0],
  [0.741531185599394440, 0.140653259715525919, 0.279705391489276668],
  [0.586087235467691130, 0.169004726639267903, 0],
  [0.405845151377397167, 0.190350578064785410, 0.381830050505118945],
  [0.207784955007898468, 0.204432940075298892, 0],
  [0, 0.209482141084727828, 0.417959183673469388],
];
/** The same on both sides: nodes, weights, and weights of the Gauss rule. */
const [NODES, WEIGHTS, GAUSS] = [0, 1, 2].map((part) => {
  const both = RULE.flatMap(([node, ...rest]) =>
    node > 0 ? [[node, ...rest], [-node, ...rest]] : [[node, ...rest]]
  );
  return Float64Array.from(both, (it) => it[part]);
});

/** Deviations beyond which a normal distribution is cut: a chance of 1e-12. */
const REACH = 7;
/** Error that the chances of one interval may have in sum. */
const TOLERANCE = 1e-9;
/** Chance below which an interval does not count, and above which it is split at once. */
const NOTHING = 1e-12, MUCH = 0.5;
const MOST_INTERVALS = 10_000;

/**
 * Distribution of the largest number: sets `rates` to density over distribution function
 * of each number at a point, and returns the product of all distribution functions.
 */
type Largest = (at: number, rates: Float64Array) => number;

/**
 * Integrates the chances of each number between two ends: the integral of its density
 * times the distribution functions of all others. Intervals are halved until the sum of
 * the errors of all chances is small; their sum is known, as the product of all
 * distribution functions is its integral, which also finds peaks between the nodes.
 */
function integrate(
  count: number,
  [low, high]: readonly [number, number],
  largest: Largest,
): Float64Array {
  const chances = new Float64Array(count), rates = new Float64Array(count);
  const kronrod = new Float64Array(count), gauss = new Float64Array(count);
  /** Returns true where the rule is good enough for an interval. */
  const apply = (from: number, to: number, mass: number): boolean => {
    const middle = (from + to) / 2, half = (to - from) / 2;
    kronrod.fill(0);
    gauss.fill(0);
    for (let k = 0; k < NODES.length; k++) {
      const product = half * largest(middle + half * NODES[k], rates);
      const weight = WEIGHTS[k] * product, gaussWeight = GAUSS[k] * product;
      for (let i = 0; i < count; i++) {
        kronrod[i] += weight * rates[i];
        gauss[i] += gaussWeight * rates[i];
      }
    }
    let sum = 0, error = 0;
    for (let i = 0; i < count; i++) {
      sum += kronrod[i];
      error += Math.abs(kronrod[i] - gauss[i]);
    }
    // As in QUADPACK: the longer rule is far better than the shorter one.
    return Math.min(error, (10 * error) ** 1.5) < TOLERANCE &&
      Math.abs(sum - mass) < TOLERANCE;
  };
  let intervals = 0;
  const visit = (from: number, to: number, below: number, upTo: number) => {
    const mass = upTo - below, at = (from + to) / 2;
    if (!(mass >= NOTHING)) return;
    const mustEnd = at === from || at === to || ++intervals > MOST_INTERVALS;
    if ((mass < MUCH || mustEnd) && (apply(from, to, mass) || mustEnd)) {
      for (let i = 0; i < count; i++) chances[i] += kronrod[i];
      return;
    }
    const product = largest(at, rates);
    visit(from, at, below, product);
    visit(at, to, product, upTo);
  };
  visit(low, high, largest(low, rates), largest(high, rates));
  return normalized(chances);
}

/** Scales chances so that their sum is 1. */
function normalized(chances: Float64Array): Float64Array {
  let sum = 0;
  for (let i = 0; i < chances.length; i++) sum += chances[i];
  for (let i = 0; i < chances.length; i++) chances[i] /= sum;
  return chances;
}

/** Shares a chance of 1 among the numbers that are the largest. */
function shared(numbers: Float64Array): Float64Array {
  const most = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  return normalized(numbers.map((it) => it === most ? 1 : 0));
}

/**
 * Ratio of the normal distribution function below -z to `exp(-z^2 / 2)`, for z from 0 to
 * about 7 (Hart 1968): an error of 1e-15.
 */
function tailRatio(z: number): number {
  const above =
    (((((0.0352624965998911 * z + 0.700383064443688) * z + 6.37396220353165) *
                  z + 33.912866078383) * z + 112.079291497871) * z +
        221.213596169931) * z + 220.206867912376;
  const below =
    ((((((0.0883883476483184 * z + 1.75566716318264) * z + 16.064177579207) *
                      z + 86.7807322029461) * z + 296.564248779674) * z +
            637.333633378831) * z + 793.826512519948) * z + 440.413735824752;
  return above / below;
}

/** Smallest deviation, relative to the largest one. */
const SMALLEST = 1e-9;
const ROOT = Math.sqrt(2 * Math.PI);
/** Cells of a unit of a table from -REACH to REACH, and numbers of a cell. */
const CELLS = 32, SIZE = 12;

/**
 * Polynomials in each cell for the normal distribution function and for density over it:
 * they meet values, slopes and curvatures at both ends, and so have errors of 1e-13.
 */
let table: Float64Array | undefined;

/** Value, slope and curvature of both functions at a point, in cells. */
function normalAt(z: number): number[][] {
  const bell = Math.exp(-0.5 * z * z), tail = bell * tailRatio(Math.abs(z));
  const share = z > 0 ? 1 - tail : tail, density = bell / ROOT;
  const rate = density / share, slope = -rate * (z + rate);
  const bend = -slope * (z + rate) - rate * (1 + slope);
  return [[share, density, -z * density], [rate, slope, bend]]
    .map((it) => it.map((value, order) => value / CELLS ** order));
}

function normalTable(): Float64Array {
  const cells = Array.from({ length: 2 * REACH * CELLS }, (_, i) => {
    const ends = [i, i + 1].map((it) => normalAt(it / CELLS - REACH));
    return [0, 1].flatMap((which) => {
      const [[a, b, c], [d, e, f]] = ends.map((it) => it[which]), rise = d - a;
      return [
        ...[a, b, c / 2, 10 * rise - 6 * b - 4 * e - 1.5 * c + f / 2],
        ...[-15 * rise + 8 * b + 7 * e + 1.5 * c - f],
        ...[6 * rise - 3 * b - 3 * e - c / 2 + f / 2],
      ];
    });
  });
  return Float64Array.from(cells.flat());
}

/**
 * Computes the chance of each of several independent normal numbers to be the largest,
 * by adaptive quadrature.
 *
 * @param means Means.
 * @param deviations Standard deviations, at least 0. Where some are infinite, these
 * numbers share all.
 * @returns The chances, which add up to 1, with errors below 1e-8.
 */
export function normalChances(
  means: Float64Array,
  deviations: Float64Array,
): Float64Array {
  const widest = deviations.reduce((a, b) => Math.max(a, b), 0);
  if (widest === Infinity) return shared(deviations);
  if (widest === 0 || means.length === 1) return shared(means);
  const spread = deviations.map((it) => Math.max(it, SMALLEST * widest));
  let low = -Infinity, high = -Infinity;
  for (let i = 0; i < means.length; i++) {
    low = Math.max(low, means[i] - REACH * spread[i]);
    high = Math.max(high, means[i] + REACH * spread[i]);
  }
  // Deviations may be lost beside large means.
  if (!(low < high)) return shared(means);
  // The others are never the largest.
  const able = Array.from(means.keys())
    .filter((i) => means[i] + REACH * spread[i] > low);
  const centers = Float64Array.from(able, (i) => means[i]);
  const scales = Float64Array.from(able, (i) => 1 / spread[i]);
  const t = table ??= normalTable(), last = t.length - SIZE;
  const found = integrate(able.length, [low, high], (at, rates) => {
    let product = 1;
    for (let i = 0; i < centers.length; i++) {
      // By rounding, it may be lower.
      const z = Math.max(-REACH, (at - centers[i]) * scales[i]);
      rates[i] = 0;
      // Beyond, the distribution function is 1.
      if (z > REACH) continue;
      const place = (z + REACH) * CELLS, cell = Math.trunc(place);
      const x = place - cell, k = Math.min(SIZE * cell, last);
      rates[i] = scales[i] * (t[k + 6] + x * (t[k + 7] + x * (t[k + 8] +
                x * (t[k + 9] + x * (t[k + 10] + x * t[k + 11])))));
      product *= t[k] + x * (t[k + 1] + x * (t[k + 2] +
                x * (t[k + 3] + x * (t[k + 4] + x * t[k + 5]))));
    }
    return product;
  });
  const chances = new Float64Array(means.length);
  able.forEach((i, at) => chances[i] = found[at]);
  return chances;
}

/**
 * Logarithm of the gamma function at x of at least 1, less Stirling's formula
 * `(x - 1/2) log x - x + log(2 pi) / 2`.
 */
function stirlingError(x: number): number {
  if (x < 10) return stirlingError(x + 1) + (x + 0.5) * Math.log1p(1 / x) - 1;
  const square = 1 / (x * x);
  return (1 / 12 - square * (1 / 360 -
        square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188))))) / x;
}

/** Computes log(x / y), accurate where the two are near. */
function logRatio(x: number, y: number): number {
  const difference = x - y;
  return Math.abs(difference) < y / 2
    ? Math.log1p(difference / y)
    : Math.log(x / y);
}

/** Continued fraction of the incomplete beta function, by Lentz's method. */
function betaFraction(a: number, b: number, x: number): number {
  let d = 1 / (1 - (a + b) * x / (a + 1)), c = 1, value = d;
  for (let m = 1; m < 10_000; m++) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= d * c;
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

/**
 * Computes the chance of each of several independent numbers with beta distributions to
 * be the largest, by adaptive quadrature.
 *
 * @param alphas First parameters, at least 1.
 * @param betas Second parameters, at least 1.
 * @returns The chances, which add up to 1, with errors below 1e-8.
 */
export function betaChances(
  alphas: Float64Array,
  betas: Float64Array,
): Float64Array {
  // Relative to its value at the mean, a density of many counts loses no digits.
  const scales = alphas.map((a, i) => {
    const b = betas[i], sum = a + b;
    const rest = stirlingError(sum) - stirlingError(a) - stirlingError(b);
    return Math.sqrt(a * b / sum) / ROOT * Math.exp(rest);
  });
  return integrate(alphas.length, [0, 1], (at, rates) => {
    if (at === 0 || at === 1) return at;
    let product = 1;
    for (let i = 0; i < alphas.length; i++) {
      const a = alphas[i], b = betas[i], sum = a + b;
      const power = scales[i] *
        Math.exp(a * logRatio(at, a / sum) + b * logRatio(1 - at, b / sum));
      // Each of the two forms converges on its side of the mean.
      const share = at < (a + 1) / (a + b + 2)
        ? power * betaFraction(a, b, at) / a
        : 1 - power * betaFraction(b, a, 1 - at) / b;
      rates[i] = share > 0 ? power / (at * (1 - at) * share) : 0;
      product *= share;
    }
    return product;
  });
}
