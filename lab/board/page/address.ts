/** Part of the horizontal axis of an environment's charts. */
export interface Zoom {
  environment: string;
  from: number;
  to: number;
}

/** All that a view shows, as the address holds it. */
export interface View {
  /** Page. */
  page: "runs" | "run" | "group";
  /** The run, or the experiment or search, that is shown. */
  id: string;
  /** Second run, that a run is compared with. */
  other: string;
  /** Filter of the runs. */
  filter: string;
  /** Column that the table is sorted by, with a minus before it for the other direction. */
  sort: string;
  /** Columns that were added to the usual ones. */
  columns: string[];
  /** Columns that were taken away. */
  hidden: string[];
  /** Statistics with a chart each; null for the usual ones. */
  charts: string[] | null;
  /** Places of curves. */
  x: "steps" | "time" | "episodes";
  /** Curves of groups or of single runs. */
  curves: "mean" | "iqm" | "runs";
  /** Settings that groups differ in; none for all but the seed. */
  by: string[];
  /** Part of all points that each is a mean of. */
  smooth: number;
  /** True for logarithms of heights. */
  log: boolean;
  /** Places that the charts of an environment are cut to. */
  zoom: Zoom | null;
}

/** View without anything chosen. */
export const HOME: Readonly<View> = {
  page: "runs",
  id: "",
  other: "",
  filter: "",
  sort: "age",
  columns: [],
  hidden: [],
  charts: null,
  x: "steps",
  curves: "mean",
  by: [],
  smooth: 0,
  log: false,
  zoom: null,
};

const PAGES: readonly View["page"][] = ["runs", "run", "group"];

/** Values that a part of the address may have. */
const CHOICES = {
  x: ["steps", "time", "episodes"],
  curves: ["mean", "iqm", "runs"],
} as const;

const TEXTS = ["other", "filter", "sort"] as const;
const LISTS = ["columns", "hidden", "by"] as const;

/** Lists names as one text: commas within them are written as `%2C`. */
function joined(names: readonly string[]): string {
  return names.map((it) => it.replaceAll("%", "%25").replaceAll(",", "%2C"))
    .join(",");
}

function split(text: string): string[] {
  return text === ""
    ? []
    : text.split(",").map((it) =>
      it.replaceAll(/%2C/gi, ",").replaceAll("%25", "%")
    );
}

/** Writes a view as the part of an address after `#`: without what is as usual. */
export function encodeView(view: View): string {
  const parts = new URLSearchParams();
  for (const key of TEXTS) {
    if (view[key] !== HOME[key]) parts.set(key, view[key]);
  }
  for (const key of LISTS) {
    const text = joined(view[key]);
    if (text !== joined(HOME[key])) parts.set(key, text);
  }
  if (view.charts !== null) parts.set("charts", joined(view.charts));
  for (const key of ["x", "curves"] as const) {
    if (view[key] !== HOME[key]) parts.set(key, view[key]);
  }
  if (view.smooth !== 0) parts.set("smooth", String(view.smooth));
  if (view.log) parts.set("log", "1");
  if (view.zoom !== null) {
    const { environment, from, to } = view.zoom;
    parts.set("zoom", [from, to, environment].join("~"));
  }
  const path = view.id === ""
    ? view.page
    : `${view.page}/${encodeURIComponent(view.id)}`;
  const query = parts.toString();
  return `#/${path}${query === "" ? "" : `?${query}`}`;
}

/** Reads a view; what cannot be read is as usual. */
export function decodeView(hash: string): View {
  const [, path = "", query = ""] = /^#?\/?([^?]*)(?:\?(.*))?$/s.exec(hash) ??
    [];
  const slash = path.indexOf("/");
  const page = slash < 0 ? path : path.slice(0, slash);
  const view: View = structuredClone(HOME);
  if (!PAGES.includes(page as View["page"])) return view;
  view.page = page as View["page"];
  view.id = slash < 0 ? "" : decodedOr(path.slice(slash + 1));
  if (view.id === "") view.page = "runs";
  const parts = new URLSearchParams(query);
  for (const key of TEXTS) view[key] = parts.get(key) ?? HOME[key];
  for (const key of LISTS) {
    const text = parts.get(key);
    if (text !== null) view[key] = split(text);
  }
  const charts = parts.get("charts");
  if (charts !== null) view.charts = split(charts);
  view.x = CHOICES.x.find((it) => it === parts.get("x")) ?? HOME.x;
  view.curves = CHOICES.curves.find((it) => it === parts.get("curves")) ??
    HOME.curves;
  const smooth = Number(parts.get("smooth"));
  view.smooth = smooth > 0 && smooth <= 1 ? smooth : 0;
  view.log = parts.get("log") === "1";
  view.zoom = zoomOf(parts.get("zoom") ?? "");
  return view;
}

function decodedOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function zoomOf(text: string): Zoom | null {
  const [, left, right, environment] = /^([^~]+)~([^~]+)~(.*)$/s.exec(text) ??
    [];
  const from = Number(left), to = Number(right);
  return Number.isFinite(from) && from < to && to < Infinity
    ? { environment, from, to }
    : null;
}
