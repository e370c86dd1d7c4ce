import { describeProperty, ownSchema } from "@bellman/agent";
import { ALGORITHMS, runSchema } from "@bellman/runs/settings";
import type { Package } from "../../tests/tools/packages.ts";
import type { Read } from "./lists.ts";

/** Address of the text for language models, in the form of llmstxt.org. */
export const LLMS = "llms.txt";

type Schema = ReturnType<typeof runSchema>;

/** Writes each setting in a line: values, default and meaning. */
function settingsOf({ properties }: Schema): string[] {
  return Object.entries(properties).map(([key, property]) =>
    `- ${key}: ${describeProperty(property)}; default ${
      JSON.stringify(property.default)
    }. ${property.description ?? ""}`.trimEnd()
  );
}

/** Writes links to documents with the first paragraph of each. */
function linksTo(documents: readonly Read[], base: string): string[] {
  return documents.map(({ address, rendered: { title, summary } }) =>
    `- [${title}](${base}${address}): ${summary}`
  );
}

/**
 * Writes what a language model needs to use the library: the first page, links to
 * guides and packages, and all settings from their schemas.
 *
 * @param documents Rendered documents of the site.
 * @param packages The packages.
 * @param base Path of the site on its server.
 */
export function llmsText(
  documents: readonly Read[],
  packages: readonly Package[],
  base: string,
): string {
  const { rendered: { summary }, text } = documents
    .find(({ source }) => source === "README.md")!;
  const [example] = text.match(/^```ts\n.*?^```/ms)!;
  const guides = documents.filter(({ source }) =>
    source.startsWith("docs/guides/")
  );
  const readmes = packages.map(({ folder }) =>
    documents.find(({ source }) => source === `${folder}/README.md`)!
  );
  const sections: [title: string, lines: readonly string[]][] = [
    ["Example", [example]],
    ["Guides", linksTo(guides, base)],
    ["Packages", linksTo(readmes, base)],
    ["Settings of every run", settingsOf(runSchema())],
    ...ALGORITHMS.map(({ meta }) =>
      [
        `Settings of ${meta.name}: ${meta.summary}`,
        settingsOf(ownSchema(meta)),
      ] as [string, string[]]
    ),
  ];
  const body = sections.map(([title, lines]) =>
    `## ${title}\n\n${lines.join("\n")}\n`
  );
  return `# Bellman\n\n> ${summary}\n\n${body.join("\n")}`;
}
