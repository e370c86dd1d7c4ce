import { builtin } from "@bellman/files";

/**
 * Returns plain data in which addresses and paths of what lies in one folder are those
 * of a copy of it.
 *
 * @param data The data.
 * @param root Address of the folder; without one, the data is returned as it is.
 * @param copy Path of the copy, without a slash at its end.
 */
export function relocate<T>(
  data: T,
  root: string | undefined,
  copy: string,
): T {
  if (root === undefined) return data;
  const { fileURLToPath, pathToFileURL } = builtin("node:url");
  const to = pathToFileURL(`${copy}/`).href, path = fileURLToPath(root);
  return mapTexts(data, (text) => {
    if (text.startsWith(root)) return to + text.slice(root.length);
    return text.startsWith(path) ? `${copy}/${text.slice(path.length)}` : text;
  }) as T;
}

/** Replaces the texts of plain data. */
function mapTexts(data: unknown, replace: (text: string) => string): unknown {
  if (typeof data === "string") return replace(data);
  if (Array.isArray(data)) return data.map((it) => mapTexts(it, replace));
  if (!isPlain(data)) return data;
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([name, it]) => [name, mapTexts(it, replace)]),
  );
}

function isPlain(data: unknown): data is Record<string, unknown> {
  return typeof data === "object" && data !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(data));
}

/** Lists the addresses of files in plain data. */
export function fileAddressesIn(data: unknown): string[] {
  const found: string[] = [];
  mapTexts(data, (text) => {
    if (URL.canParse(text) && new URL(text).protocol === "file:") {
      found.push(text);
    }
    return text;
  });
  return found;
}
