/// <reference lib="dom" />
import { Chart } from "./chart.ts";
import type { View } from "./data/address.ts";
import { csvOf, svgOf } from "./data/files.ts";
import { number, statisticText } from "./data/format.ts";
import { COLORS, type Curve, DASHES, valuesAt } from "./data/frame.ts";
import { button, copyButton, download, Kept, make, setText } from "./dom.ts";

const X_LABELS: Readonly<Record<View["x"], string>> = {
  steps: "Environment steps",
  time: "Seconds of training",
  episodes: "Episodes",
};

/** Chart of a statistic with the values under the pointer. */
export class Panel {
  readonly element: HTMLElement;
  readonly chart: Chart;
  readonly #title: string;
  readonly #place = make("p", { class: "soft", "aria-live": "off" });
  readonly #list = make("ol", { class: "values" });
  readonly #items = new Kept<{ element: HTMLLIElement; value: HTMLElement }>(
    this.#list,
  );
  #xLabel = "";
  #x: number | null = null;
  #isWanted = false;

  constructor(
    statistic: string,
    events: {
      onPoint(x: number): void;
      onZoom(zoom: View["zoom"]): void;
    },
  ) {
    this.#title = statisticText(statistic);
    this.chart = new Chart(this.#title, events);
    const drawn = () => ({
      title: this.#title,
      xLabel: this.#xLabel,
      curves: this.chart.curves,
      frame: this.chart.frame,
    });
    const name = statistic.replaceAll(/[^\w.-]+/g, "_");
    this.element = make(
      "figure",
      { class: "card" },
      make(
        "figcaption",
        {},
        make("h3", { title: statistic }, this.#title),
        button(
          "SVG",
          () => download(`${name}.svg`, svgOf(drawn()), "image/svg+xml"),
          {
            class: "small",
            "aria-label": `Download ${this.#title} as SVG`,
          },
        ),
        button(
          "CSV",
          () => download(`${name}.csv`, csvOf(drawn()), "text/csv"),
          {
            class: "small",
            "aria-label": `Download ${this.#title} as CSV`,
          },
        ),
      ),
      this.chart.element,
      make(
        "div",
        { class: "row" },
        this.#place,
        copyButton(() => this.#text(), `values of ${this.#title}`),
      ),
      this.#list,
    );
  }

  update(curves: readonly Curve[], view: View): void {
    this.#xLabel = X_LABELS[view.x];
    const { log, zoom } = view;
    this.chart.update(curves, { xLabel: this.#xLabel, log, zoom });
    this.#wantValues();
  }

  /** Shows the values at a place. */
  point(x: number, isOwn: boolean): void {
    this.#x = x;
    if (!isOwn) this.chart.point(x);
    this.#wantValues();
  }

  end(): void {
    this.chart.end();
  }

  #wantValues(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    requestAnimationFrame(() => {
      this.#isWanted = false;
      this.#showValues();
    });
  }

  #values() {
    const { curves } = this.chart;
    if (this.#x !== null) return valuesAt(curves, this.#x);
    return curves.map((curve) => ({ curve, value: curve.y.at(-1) ?? NaN }));
  }

  #placeText(): string {
    return this.#x === null
      ? "Last values"
      : `At ${number(this.#x)} (${this.#xLabel.toLowerCase()})`;
  }

  #text(): string {
    return [
      this.#placeText(),
      ...this.#values().map(({ curve, value }) => `${curve.name}\t${value}`),
    ].join("\n");
  }

  #showValues(): void {
    setText(this.#place, this.#placeText());
    const values = this.#values();
    const keys = values.map(({ curve: { name, color } }) =>
      JSON.stringify([name, color])
    );
    const items = this.#items.show(keys, (key) => {
      const [name, color] = JSON.parse(key);
      const value = make("b");
      const dash = Math.floor(color / COLORS) % DASHES.length;
      const swatch = make("span", {
        class: `swatch color${color % COLORS} dash${dash}`,
      });
      const label = make("span", { class: "name", title: name }, name);
      return { element: make("li", {}, swatch, label, value), value };
    });
    const byKey = new Map(keys.map((key, i) => [key, values[i].value]));
    [...byKey.values()].forEach((value, i) =>
      setText(items[i].value, number(value))
    );
  }
}
