/** Sorts rows by value; quick for few and for what is nearly sorted. */
export function sortRows(
  rows: number[] | Int32Array,
  values: Float64Array,
): void {
  for (let i = 1; i < rows.length; i++) {
    const row = rows[i];
    let j = i - 1;
    for (; j >= 0 && values[rows[j]] > values[row]; j--) rows[j + 1] = rows[j];
    rows[j + 1] = row;
  }
}

/** Two ascending lists of rows as one. */
export function mergeSorted(
  values: Float64Array,
  { left, right }: { left: Int32Array; right: Int32Array },
): Int32Array {
  const merged = new Int32Array(left.length + right.length);
  let l = 0, r = 0;
  for (let i = 0; i < merged.length; i++) {
    const takeLeft = r === right.length ||
      (l < left.length && values[left[l]] <= values[right[r]]);
    merged[i] = takeLeft ? left[l++] : right[r++];
  }
  return merged;
}
