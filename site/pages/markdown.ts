import MarkdownIt from "markdown-it";
import { highlight } from "./highlight.ts";

type Token = ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number];

/** A heading of a page and the text below it. */
export interface Section {
  /** Anchor; empty for the first heading, which is the page itself. */
  id: string;
  title: string;
  level: number;
  text: string;
}

/** A rendered text. */
export interface Rendered {
  html: string;
  /** The first heading's. */
  title: string;
  /** The first paragraph's text. */
  summary: string;
  sections: Section[];
}

/** Returns where a link or a picture leads from a page; undefined for nowhere. */
export type Resolve = (
  link: string,
  kind: "link" | "picture",
) => string | undefined;

const markdown = new MarkdownIt({ html: false, highlight });
// Tables scroll in their own box where the window is narrow.
markdown.renderer.rules.table_open = () => '<div class="table"><table>\n';
markdown.renderer.rules.table_close = () => "</table></div>\n";

/** Writes centred pictures and their captions as Markdown, and drops comments. */
function withoutHtml(text: string): string {
  const outside = text.split(/(^( *)```.*?^\2```)/ms);
  // Every third part is the indent of the fence before it.
  return outside.filter((_, i) => i % 3 !== 2).map((part, i) =>
    i % 2 === 1 ? part : part
      .replaceAll(/<!--.*?-->/gs, "")
      .replaceAll(/<\/?(?:p|sub)\b[^>]*>/g, "")
      .replaceAll(
        /<img\s[^>]*?src="([^"]*)"[^>]*?alt="([^"]*)"[^>]*>/g,
        "![$2]($1)",
      )
      .replaceAll(/<a href="([^"]*)">(.*?)<\/a>/gs, "[$2]($1)")
  ).join("");
}

/** Anchor of a heading, as GitHub makes it. */
function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

function textOf(token: Token): string {
  if (token.children === null) return token.content;
  return token.children
    .map((it) => it.type === "softbreak" ? " " : textOf(it)).join("");
}

/** Leads the links of a paragraph elsewhere; those that lead nowhere become text. */
function resolveLinks(tokens: readonly Token[], resolve: Resolve): void {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.type === "image") {
      const source = resolve(String(token.attrGet("src")), "picture");
      if (source !== undefined) token.attrSet("src", source);
    }
    if (token.type === "link_close") token.tag = open.pop()!.tag;
    if (token.type !== "link_open") continue;
    open.push(token);
    const link = resolve(String(token.attrGet("href")), "link");
    if (link === undefined) [token.tag, token.attrs] = ["span", []];
    else token.attrSet("href", link);
  }
}

/**
 * Renders Markdown.
 *
 * @param text Markdown; its HTML is shown as text, but for pictures and comments.
 * @param resolve Where its links and pictures lead.
 */
export function render(text: string, resolve: Resolve): Rendered {
  const tokens = markdown.parse(withoutHtml(text), {});
  const sections: Section[] = [], taken = new Map<string, number>();
  let summary = "";
  for (const [i, token] of tokens.entries()) {
    if (token.children !== null) resolveLinks(token.children, resolve);
    if (token.type === "heading_open") {
      const title = textOf(tokens[i + 1]), anchor = anchorOf(title);
      const count = taken.get(anchor) ?? 0;
      taken.set(anchor, count + 1);
      const id = count === 0 ? anchor : `${anchor}-${count}`;
      const level = Number(token.tag.slice(1));
      token.attrSet("id", id);
      sections.push({
        id: sections.length > 0 ? id : "",
        title,
        level,
        text: "",
      });
    } else if (tokens[i - 1]?.type !== "heading_open" && sections.length > 0) {
      const words = token.type === "fence" || token.type === "inline"
        ? textOf(token)
        : "";
      sections.at(-1)!.text += `${words}\n`;
      const isText = token.type === "inline" && !/^\s*$/.test(words);
      if (isText && tokens[i - 1].type === "paragraph_open") summary ||= words;
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { html, title: sections[0]?.title ?? "", summary, sections };
}
