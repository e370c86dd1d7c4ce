import { ROOT } from "./packages.ts";

const base = await Deno.readTextFile(
  `${ROOT}algorithms/training/plots/page.css`,
);

/** Reads a style sheet of pages, with what they share in front. */
export async function pageSheet(path: string): Promise<string> {
  return base + await Deno.readTextFile(path);
}

/**
 * Reads a style sheet of images and writes the palette's colours in, as programs
 * that show images may know neither variables nor `light-dark()`.
 */
export async function imageSheet(path: string): Promise<string> {
  const palette = new Map(
    [...base.matchAll(/(--\w+): (light-dark\(.*?\));/g)]
      .map(([, name, value]) => [name, value]),
  );
  const sheet = (await Deno.readTextFile(path))
    .replaceAll(/var\((--\w+)\)/g, (_, name) => palette.get(name)!);
  const choose = (text: string, choice: "$1" | "$2") =>
    text.replaceAll(/light-dark\((.*?), (.*?)\)/g, choice);
  // Of the rules for the dark, only what differs.
  const rules = sheet.matchAll(/^(\..*\n)(?:.*;\n)*?(.*light-dark.*\n)\}/gm);
  const dark = [...rules].map(([, selector, line]) =>
    `  ${selector}  ${choose(line, "$2")}  }\n`
  ).join("");
  return `${
    choose(sheet, "$1")
  }@media (prefers-color-scheme:dark) {\n${dark}}\n`;
}
