/** Curves as files. */
import {
  type Curve,
  DASHES,
  type Frame,
  placing,
  ticksOf,
  tickTexts,
  yTicks,
} from "./frame.ts";

/** Colours of the files, those of the plots of `deno task plot` on a light ground. */
const PALETTE = [
  "#0b6bcb",
  "#d9480f",
  "#1a8f5a",
  "#9c36b5",
  "#b78103",
  "#c2255c",
];

/** Chart that is written into a file. */
export interface Drawn {
  title: string;
  xLabel: string;
  curves: readonly Curve[];
  frame: Frame;
}

/** Writes a text of XML; characters that none may have are left out. */
function escaped(text: string): string {
  return text.replaceAll(
    /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[&<>"]/gu,
    (it) => ENTITIES[it] ?? "",
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function dashOf(color: number): string {
  return DASHES[Math.floor(color / PALETTE.length) % DASHES.length].join(" ");
}

const SIZE = { width: 760, left: 70, right: 20, top: 44, height: 340 };

/** Draws a chart as an image of SVG. */
export function svgOf({ title, xLabel, curves, frame }: Drawn): string {
  const { width, left, right, top, height } = SIZE;
  const box = { left, top, width: width - left - right, height };
  const place = placing(frame, box);
  const at = (value: number) => String(Math.round(value * 100) / 100);
  const points = (x: readonly number[], y: readonly number[]) =>
    x.map((it, i) => `${at(place.x(it))},${at(place.y(y[i]))}`)
      .filter((it) => !/NaN|Infinity/.test(it)).join(" ");
  const text = (x: number, y: number, content: string, more = "") =>
    `<text x="${at(x)}" y="${at(y)}"${more}>${escaped(content)}</text>`;
  const bottom = top + height;
  const [across, up] = [ticksOf(frame.x), yTicks(frame)];
  const [acrossTexts, upTexts] = [across, up].map(tickTexts);
  const axes = [
    ...across.map((it, i) =>
      `<path d="M${at(place.x(it))} ${top}v${height}" stroke="#e3e7eb"/>` +
      text(place.x(it), bottom + 18, acrossTexts[i], ' text-anchor="middle"')
    ),
    ...up.map((it, i) =>
      `<path d="M${left} ${at(place.y(it))}h${box.width}" stroke="#e3e7eb"/>` +
      text(left - 8, place.y(it) + 4, upTexts[i], ' text-anchor="end"')
    ),
  ];
  const drawn = curves.map(({ x, y, low, high, color, isDots }) => {
    const paint = PALETTE[color % PALETTE.length];
    const dash = dashOf(color);
    if (isDots || x.length === 1) {
      return x.map((it, i) =>
        `<circle cx="${at(place.x(it))}" cy="${
          at(place.y(y[i]))
        }" r="3" fill="${paint}"/>`
      ).filter((it) => !/NaN|Infinity/.test(it)).join("");
    }
    const band = low && high
      ? `<polygon points="${points(x, high)} ${
        points(x.toReversed(), low.toReversed())
      }" fill="${paint}" opacity="0.2"/>`
      : "";
    return `${band}<polyline points="${
      points(x, y)
    }" fill="none" stroke="${paint}" stroke-width="1.75" stroke-dasharray="${dash}"/>`;
  });
  const names = curves.map(({ name, color }, i) => {
    const y = bottom + 66 + 18 * i;
    const dash = dashOf(color);
    return `<path d="M${left} ${y - 4}h24" stroke="${
      PALETTE[color % PALETTE.length]
    }" stroke-width="2" stroke-dasharray="${dash}"/>${
      text(left + 32, y, name)
    }`;
  });
  const whole = bottom + 70 + 18 * curves.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" font-family="system-ui, sans-serif" font-size="12" fill="#40464d">
<clipPath id="c"><rect x="${left}" y="${top}" width="${box.width}" height="${height}"/></clipPath>
<rect width="100%" height="100%" fill="#ffffff"/>
${text(left, 26, title, ' font-size="16" font-weight="600" fill="#1c2024"')}
${axes.join("\n")}
${text(left + box.width / 2, bottom + 40, xLabel, ' text-anchor="middle"')}
<g clip-path="url(#c)">${drawn.join("\n")}</g>
${names.join("\n")}
</svg>
`;
}

/** Writes a field: quoted where it needs to be, and never as a formula of a spreadsheet. */
function field(value: string | number | undefined): string {
  if (typeof value !== "string") {
    return value === undefined ? "" : String(value);
  }
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes curves as CSV: a row for each point. */
export function csvOf({ xLabel, curves, title }: Omit<Drawn, "frame">): string {
  const rows = curves.flatMap(({ name, x, y, low, high }) =>
    x.map((it, i) => [name, it, y[i], low?.[i], high?.[i]])
  );
  return [["curve", xLabel, title, "low", "high"], ...rows]
    .map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}
