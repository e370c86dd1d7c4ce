import { escapeMarkup } from "@bellman/training/plots";
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

/** Reads a text out of HTML without elements. */
export function unescapeHtml(html: string): string {
  return html.replaceAll(
    /&#x([\da-f]+);/gi,
    (_, code) => String.fromCodePoint(parseInt(code, 16)),
  ).replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll(
      "&amp;",
      "&",
    );
}

/** Writes a link from one page to another one. */
export function anchor(from: string, to: string, text: string): string {
  return `<a href="${linkTo(from, to)}">${escapeMarkup(text)}</a>`;
}
