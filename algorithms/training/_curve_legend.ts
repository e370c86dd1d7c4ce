import { paletteSize, svgText } from "./_markup.ts";
import type { CurveSeries } from "./curve_series.ts";

/** The names of the series in rows, as many as the width needs. */
export function layLegend(
  series: readonly CurveSeries[],
  width: number,
): { markup: string; height: number } {
  let [left, row] = [20, 0];
  const entries = series.map(({ name, runs, style }, i) => {
    const label = runs.length > 1 && style !== "dots"
      ? `${name} (${runs.length} runs)`
      : name;
    const size = 24 + label.length * 6.7 + 18;
    if (left > 20 && left + size > width - 10) [left, row] = [20, row + 1];
    const [at, middle] = [left, row * 20 + 10];
    left += size;
    const color = i % paletteSize;
    const swatch = style === "dots"
      ? `<circle class="bc-fill${color}" opacity="0.6" cx="${
        at + 8
      }" cy="${middle}" r="3"/>`
      : `<path class="bc-line bc-line${color}" d="M${at} ${middle}h16"/>`;
    return swatch + svgText(at + 24, middle + 4, label, "bc-legend");
  });
  // A single curve under a title needs no name.
  return series.length === 0 || series.every(({ name }) => name === "")
    ? { markup: "", height: 0 }
    : { markup: entries.join(""), height: (row + 1) * 20 };
}
