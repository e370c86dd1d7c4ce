import type { Package } from "../../tests/tools/packages.ts";
import type { Entry } from "../api/symbols.ts";
import type { Document } from "./documents.ts";
import type { Page } from "./layout.ts";
import type { Rendered } from "./markdown.ts";
import { escapeMarkup } from "@bellman/training/plots";
import { anchor } from "./site.ts";

/** A document with its rendered text. */
export interface Read extends Document {
  rendered: Rendered;
}

/** Writes a title with the first sentence of its text. */
function entry(from: string, { address, rendered }: Read, more = ""): string {
  const { title, summary } = rendered, about = sentenceOf(summary);
  return `<dt>${anchor(from, address, title)}${more}</dt>\n<dd>${about}</dd>`;
}

/** Writes the first sentence of a text. */
function sentenceOf(text: string): string {
  const [sentence] = /^.*?\.(?=\s+[A-Z`]|$)/s.exec(text) ?? [text];
  return escapeMarkup(sentence.replace(/:$/, "."));
}

const list = (entries: readonly string[]) =>
  `<dl class="list">\n${entries.join("\n")}\n</dl>`;

/** The list of guides. */
export function guidesPage(documents: readonly Read[]): Page {
  const address = "guides/index.html";
  const guides = documents.filter((it) => it.source.startsWith("docs/guides/"))
    .toSorted((a, b) => a.rendered.title < b.rendered.title ? -1 : 1);
  const summary = "The code of each guide runs as a test of every commit.";
  return {
    address,
    title: "Guides",
    summary,
    body: `<h1>Guides</h1>
<p>${summary}</p>
${list(guides.map((it) => entry(address, it)))}`,
  };
}

/** The list of interfaces: of each module that is imported by a name. */
export function apiPage(entries: readonly Entry[]): Page {
  const address = "api/index.html";
  const items = entries.toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name, folder, doc }) => {
      const about = sentenceOf(
        doc.replaceAll(/\{@link(?:code)? (\w+)\}|`/g, "$1"),
      );
      return `<dt>${anchor(address, `${folder}/index.html`, name)}</dt>
<dd>${about}</dd>`;
    });
  const summary = "All exported symbols of each module.";
  return {
    address,
    title: "API",
    summary,
    body: `<h1>API</h1>
<p>${summary} The search finds each by its name, too.</p>
${list(items)}`,
  };
}

/** The list of packages, with all READMEs in their folders. */
export function packagesPage(
  documents: readonly Read[],
  packages: readonly Package[],
): Page {
  const address = "packages.html";
  const entriesOf = ({ folder, imports: [name] }: Package) => {
    const api = `${name.replace("@bellman/", "api/")}/index.html`;
    const [own, ...inner] = documents
      .filter((it) => it.source.startsWith(`${folder}/`))
      .toSorted((a, b) => a.source.length - b.source.length);
    return [
      entry(address, own, ` <small>${anchor(address, api, "API")}</small>`),
      ...inner.map((it) => entry(address, it)),
    ];
  };
  const listOf = (isAlgorithm: boolean) =>
    list(
      packages.filter((it) => it.isAlgorithm === isAlgorithm)
        .toSorted((a, b) => a.name < b.name ? -1 : 1).flatMap(entriesOf),
    );
  return {
    address,
    title: "Packages",
    summary: "The packages of Bellman, with their interfaces.",
    body: `<h1>Packages</h1>
<p>${anchor(address, "ARCHITECTURE.html", "How they depend on each other")}.</p>
<h2 id="algorithms">Algorithms</h2>
${listOf(true)}
<h2 id="parts">Parts</h2>
${listOf(false)}`,
  };
}
