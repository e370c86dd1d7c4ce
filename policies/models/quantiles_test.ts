import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { RandomStream } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { quantileLosses, smallestQuantiles } from "./quantiles.ts";

await tf.setBackend("cpu");

const rows = (...values: number[][]) => tf.tensor2d(values);

function random(count: number, columns: number): tf.Tensor2D {
  const numbers = new Float32Array(count * columns);
  const random = new RandomStream(numbers.length);
  return tf.tensor2d(random.fillNormal(numbers), [count, columns]);
}

/** The losses as they are written in the paper. */
function plainLosses(quantiles: number[][], targets: number[][]): number[] {
  const huber = (u: number) =>
    Math.abs(u) <= 1 ? u * u / 2 : Math.abs(u) - 1 / 2;
  return quantiles.map((row, b) =>
    row.map((theta, i) => {
      const tau = (i + 0.5) / row.length;
      const each = targets[b].map((y) => {
        const u = y - theta;
        return Math.abs(tau - (u < 0 ? 1 : 0)) * huber(u);
      });
      return each.reduce((sum, it) => sum + it, 0) / each.length;
    }).reduce((sum, it) => sum + it, 0)
  );
}

Deno.test("losses are those of the paper, for any numbers of both", () => {
  for (const [count, samples] of [[1, 1], [4, 7], [7, 2]]) {
    const quantiles = tf.mul(random(5, count), 2) as tf.Tensor2D;
    const targets = tf.mul(random(5, samples), 2) as tf.Tensor2D;
    const wanted = plainLosses(quantiles.arraySync(), targets.arraySync());
    quantileLosses(quantiles, targets).arraySync()
      .forEach((it, i) => assertAlmostEquals(it, wanted[i], 1e-5));
  }
});

Deno.test("the gradient by hand is that of differences", () => {
  const targets = random(3, 6);
  const gradient = tf.grad((theta: tf.Tensor) =>
    tf.sum(quantileLosses(theta as tf.Tensor2D, targets))
  );
  const quantiles = tf.mul(random(3, 4), 1.5).arraySync() as number[][];
  const found = gradient(rows(...quantiles)).arraySync() as number[][];
  const lossAt = (b: number, i: number, change: number) => {
    const moved = structuredClone(quantiles);
    moved[b][i] += change;
    return plainLosses(moved, targets.arraySync()).reduce((x, y) => x + y, 0);
  };
  for (const [b, row] of found.entries()) {
    for (const [i, it] of row.entries()) {
      const slope = (lossAt(b, i, 1e-4) - lossAt(b, i, -1e-4)) / 2e-4;
      assertAlmostEquals(it, slope, 1e-3);
    }
  }
});

Deno.test("quantile regression ends at the quantiles", () => {
  const targets = rows([0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
  const gradient = tf.grad((quantiles: tf.Tensor) =>
    tf.sum(quantileLosses(quantiles as tf.Tensor2D, targets))
  );
  let quantiles = rows([400, 500]);
  for (let step = 0; step < 400; step++) {
    quantiles = tf.sub(quantiles, tf.mul(gradient(quantiles), 20));
  }
  const [[low, high]] = quantiles.arraySync();
  assert(low > 150 && low < 300, `${low}`); // a quarter lies below
  assert(high > 600 && high < 750, `${high}`);
});

Deno.test("the largest quantiles of all critics are left out, whosever they are", () => {
  const [first, second] = [
    rows([5, 1, 9], [0, 0, 1]),
    rows([7, 2, 8], [3, 4, 2]),
  ];
  const kept = (dropped: number) =>
    smallestQuantiles([first, second], dropped).arraySync();
  assertEquals(kept(1), [[1, 2, 5, 7], [0, 0, 1, 2]]);
  assertEquals(kept(2), [[1, 2], [0, 0]]);
  assertEquals(kept(0)[0], [1, 2, 5, 7, 8, 9]);
});

Deno.test("dropping all quantiles is refused", () => {
  assertThrows(
    () => smallestQuantiles([tf.tensor2d([[1, 2]])], 2),
    RangeError,
    "Cannot drop 2 quantiles of 1 critics with 2 in all",
  );
});
