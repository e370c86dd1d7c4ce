/** URLs of the modules of the user that commands have imported. */
const modules = new Set<string>();

/** Remembers an imported module of the user, whose lines errors then name. */
export function addOwnModule(url: string): void {
  modules.add(url);
}

/**
 * Returns ` (FILE:LINE)` of the user's module that an error or its cause comes from;
 * an empty text for other errors, and for those whose message has a line.
 */
export function atOwnLine(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  const frames = (thrown.stack ?? "").split("\n")
    .flatMap((it) => /(file:\S+?):(\d+):\d+\)?$/.exec(it) ?? []);
  for (let i = 0; i < frames.length; i += 3) {
    const [, url, line] = frames.slice(i);
    if (!modules.has(url)) continue;
    const file = decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
    const [told] = thrown.message.split("\n", 1);
    return told.includes(`${file}:`) ? "" : ` (${file}:${line})`;
  }
  return atOwnLine(thrown.cause);
}
