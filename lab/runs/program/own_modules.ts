/** URLs of the modules of the user that commands have imported. */
const modules = new Set<string>();

/** Remembers an imported module of the user, whose lines errors then name. */
export function addOwnModule(url: string): void {
  modules.add(url);
}

/**
 * Names the line of the user's module that an error comes from, as ` (FILE:LINE)`.
 *
 * @param thrown Thrown value.
 * @param message Its message; an empty text is returned where that names the file.
 * @param isNested True to look at its causes, too.
 */
export function atOwnLine(
  thrown: unknown,
  message: string,
  isNested = false,
): string {
  if (!(thrown instanceof Error) || modules.size === 0) return "";
  const frames = (thrown.stack ?? "").matchAll(/(file:\S+?):(\d+):\d+\)?$/gm);
  for (const [, url, line] of frames) {
    if (!modules.has(url)) continue;
    const file = decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
    return message.includes(`${file}:`) ? "" : ` (${file}:${line})`;
  }
  return isNested ? atOwnLine(thrown.cause, message, true) : "";
}
