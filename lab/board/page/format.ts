/** Formats of numbers, times and sizes. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const some = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** Placeholder for missing values. */
export const NONE = "–";

/** Formats a whole number with separators. */
export function count(value: number | null | undefined): string {
  if (!isNumber(value)) return NONE;
  return Math.abs(value) < 1e15 ? whole.format(value) : number(value);
}

/** Formats a number with four digits: `0.0003`, `1,235` or `1.2e-7`. */
export function number(value: number | null | undefined): string {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) {
    return value.toExponential(2).replace("e+", "e");
  }
  return size >= 1000 ? whole.format(value) : some.format(value);
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Formats seconds: `12 s`, `3:05 min`, `2:10 h` or `4 d 3 h`. */
export function duration(seconds: number | null | undefined): string {
  if (!isNumber(seconds) || seconds < 0) return NONE;
  const two = (value: number) => String(value).padStart(2, "0");
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  const [s, minutes] = [rounded % 60, Math.floor(rounded / 60)];
  if (minutes < 60) return `${minutes}:${two(s)} min`;
  const [m, hours] = [minutes % 60, Math.floor(minutes / 60)];
  if (hours < 48) return `${hours}:${two(m)} h`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a size in bytes. */
export function bytes(size: number | null | undefined): string {
  if (!isNumber(size)) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = size, unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}

/** Formats the name of a statistic: `eval/return_mean` as "Eval: return mean". */
export function statisticText(name: string): string {
  const known = TITLES[name];
  if (known !== undefined) return known;
  // Games have statistics of each role.
  const [, role, own] = /^([^/]+)\/(self_play\/.+)$/.exec(name) ?? [];
  if (role !== undefined) return `${role}: ${statisticText(own)}`;
  const slash = name.lastIndexOf("/");
  const words = name.slice(slash + 1).replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const TITLES: Readonly<Record<string, string>> = {
  "rollout/return_mean": "Return",
  "rollout/length_mean": "Episode length",
  "eval/return_mean": "Evaluation: mean return",
  "eval/length_mean": "Evaluation: mean episode length",
  "self_play/elo": "Elo rating",
  "self_play/win_rate": "Win rate of the last 100 games",
  "self_play/opponent_age": "Age of opponents in steps",
};
