/** Visible range of the horizontal axis of an environment's charts. */
export interface Zoom {
  environment: string;
  from: number;
  to: number;
}

/** View of the page, as in its address. */
export interface View {
  /** Page. */
  page: "runs" | "run" | "group";
  /** Id of the shown run, experiment or search. */
  id: string;
  /** Id of a second run to compare with. */
  other: string;
  /** Filter of the runs. */
  filter: string;
  /** Sort column, with a minus for descending order. */
  sort: string;
  /** Columns added to the default ones. */
  columns: string[];
  /** Columns removed from the default ones. */
  hidden: string[];
  /** Statistics to draw; null for the default ones. */
  charts: string[] | null;
  /** Quantity of the horizontal axis. */
  x: "steps" | "time" | "episodes";
  /** Curves of groups or of single runs. */
  curves: "mean" | "iqm" | "runs";
  /** Settings that define groups; empty for all but the seed. */
  by: string[];
  /** Smoothing: fraction of all points that each is a mean of. */
  smooth: number;
  /** Logarithmic vertical axis. */
  log: boolean;
  /** Visible range of an environment's charts. */
  zoom: Zoom | null;
}

/** Default view. */
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

/** Allowed values of a part of the address. */
const CHOICES = {
  x: ["steps", "time", "episodes"],
  curves: ["mean", "iqm", "runs"],
} as const;

const TEXTS = ["other", "filter", "sort"] as const;
const LISTS = ["columns", "hidden", "by"] as const;

/** Joins names; commas within them become `%2C`. */
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

/** Encodes a view as the part of an address after `#`, without defaults. */
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

/** Decodes a view; invalid parts are replaced by defaults. */
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
