import { assert } from "@std/assert";

const GUIDES = new URL("../../docs/guides/", import.meta.url);

/** The first block of code in a language below a text of a guide. */
export function guideCode(
  guide: string,
  below: string,
  language = "ts",
): string {
  const text = Deno.readTextFileSync(new URL(`${guide}.md`, GUIDES));
  const at = text.indexOf(below);
  const block = new RegExp(
    `^\`\`\`${language}(?: ignore)?\\n(.*?)^\`\`\``,
    "ms",
  );
  const code = at < 0 ? null : block.exec(text.slice(at));
  assert(code !== null, `no code below '${below}' of ${guide}.md`);
  return code[1];
}
