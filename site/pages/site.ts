import { posix } from "node:path";

/** Files of the site by their address: the path from its root. */
export type Site = Map<string, string | Uint8Array<ArrayBuffer>>;

/**
 * Returns the link from one page to an address, so that the site works under any
 * path and from a disk.
 *
 * @param from Address of the page.
 * @param to Address, with an anchor or without one.
 */
export function linkTo(from: string, to: string): string {
  const [address, anchor] = to.split("#");
  const parts = posix.relative(posix.dirname(from), address).split("/");
  // A colon in the first part would be a scheme.
  const path = parts.map(encodeURIComponent).join("/");
  return anchor === undefined ? path : `${path}#${anchor}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Writes a text as HTML, in an element or in an attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (it) => ENTITIES[it]);
}

/** Reads a text out of HTML without elements. */
export function unescapeHtml(html: string): string {
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">" };
  return html.replaceAll(
    /&(?:#x([0-9a-f]+)|#(\d+)|(amp|lt|gt|quot));/gi,
    (_, hex, decimal, name) =>
      name === undefined
        ? String.fromCodePoint(parseInt(hex ?? decimal, hex ? 16 : 10))
        : names[name] ?? '"',
  );
}
