/** What XML does not allow, not even escaped. */
const FORBIDDEN =
  /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/**
 * Text for use in HTML and SVG, also within attributes. Characters that XML
 * does not allow are left out.
 *
 * @param text Any text.
 * @returns Markup that shows it.
 *
 * @example
 * ```ts
 * import { escapeMarkup } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(escapeMarkup('a < "b"\0'), "a &lt; &quot;b&quot;");
 * ```
 */
export function escapeMarkup(text: string): string {
  return text.replace(FORBIDDEN, "")
    .replace(/[&<>"]/g, (character) => ESCAPES[character]);
}
