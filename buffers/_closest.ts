/** Edits (one letter more, less or other) that make one word of another. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + change);
    }
    row = next;
  }
  return row[b.length];
}

/** The name with the fewest edits; the first of several. */
export function closest(name: string, names: readonly string[]): string {
  const distances = names.map((it) => editDistance(name, it));
  return names[distances.indexOf(Math.min(...distances))];
}
