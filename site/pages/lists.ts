import type { Package } from "../../tests/tools/packages.ts";
import type { Document } from "./documents.ts";
import type { Page } from "./layout.ts";
import type { Rendered } from "./markdown.ts";
import { escapeHtml, linkTo } from "./site.ts";

/** A document with its rendered text. */
export interface Read extends Document {
  rendered: Rendered;
}

/** Writes a link from one page to another one. */
export function anchor(from: string, to: string, text: string): string {
  return `<a href="${linkTo(from, to)}">${escapeHtml(text)}</a>`;
}

/** The first sentence of a text. */
function firstSentence(text: string): string {
  const [sentence] = /^.*?\.(?=\s+[A-Z`]|$)/s.exec(text) ?? [text];
  return sentence.replace(/:$/, ".");
}

function entry(from: string, { address, rendered }: Read): string {
  const about = escapeHtml(firstSentence(rendered.summary));
  return `<dt>${anchor(from, address, rendered.title)}</dt>\n<dd>${about}</dd>`;
}

const titled = (a: Read, b: Read) =>
  a.rendered.title.localeCompare(b.rendered.title, "en");

/** The list of guides. */
export function guidesPage(documents: readonly Read[]): Page {
  const address = "guides/index.html";
  const guides = documents.filter((it) => it.source.startsWith("guides/"));
  const entries = guides.toSorted(titled).map((it) => entry(address, it));
  return {
    address,
    title: "Guides",
    summary: "Guides of Bellman: their code runs as tests.",
    body: `<h1>Guides</h1>
<p>The code of each guide runs as a test of every commit.</p>
<dl class="list">
${entries.join("\n")}
</dl>`,
  };
}

/** Folder of the API of an entry point: `api/envs/atari`. */
export function apiFolder(name: string): string {
  return name.replace("@bellman/", "api/");
}

/** The list of packages, with their entry points that have a README. */
export function packagesPage(
  documents: readonly Read[],
  packages: readonly Package[],
): Page {
  const address = "packages.html";
  const row = ({ folder, imports: [name] }: Package) => {
    const read = documents.filter((it) => it.source.startsWith(`${folder}/`))
      .toSorted((a, b) => a.source.length - b.source.length);
    const [own, ...inner] = read;
    const api = anchor(address, `${apiFolder(name)}/index.html`, "API");
    const more = inner.map(({ address: to, rendered }) =>
      anchor(address, to, rendered.title)
    );
    return `${
      entry(address, own).replace("</dt>", ` <small>${api}</small></dt>`)
    }
${more.length > 0 ? `<dd>With ${more.join(", ")}.</dd>` : ""}`;
  };
  const list = (isAlgorithm: boolean) =>
    packages.filter((it) => it.isAlgorithm === isAlgorithm)
      .toSorted((a, b) => a.name < b.name ? -1 : 1).map(row).join("\n");
  const { address: architecture } = documents.find(({ source }) =>
    source === "ARCHITECTURE.md"
  )!;
  return {
    address,
    title: "Packages",
    summary: "The packages of Bellman, with their interfaces.",
    body: `<h1>Packages</h1>
<p>How they depend on each other: ${
      anchor(address, architecture, "architecture")
    }.</p>
<h2 id="algorithms">Algorithms</h2>
<dl class="list">
${list(true)}
</dl>
<h2 id="parts">Parts</h2>
<dl class="list">
${list(false)}
</dl>`,
  };
}
