import { denoOutput } from "../../tests/tools/deno_output.ts";
import { type Package, ROOT } from "../../tests/tools/packages.ts";

/** A module that is imported by a name. */
export interface Entry {
  /** Name that it is imported by: `@bellman/envs/atari`. */
  name: string;
  /** Path from the root of the checkout. */
  path: string;
  /** Folder of its pages: `api/envs/atari`. */
  folder: string;
  owner: Package;
  /** Documentation of the module, with its symbols. */
  doc: string;
}

/** An exported symbol with its page. */
export interface ApiSymbol {
  name: string;
  doc: string;
  entry: Entry;
  address: string;
  /** File and line of its first declaration, which tell what is exported twice. */
  file: string;
  line: number;
  /** Properties of a configuration, with their names in other libraries. */
  settings: { name: string; doc: string; aliases: string }[];
}

interface Documented {
  name: string;
  jsDoc?: { doc?: string; tags?: { value?: string }[] };
}

/** What is read of a declaration in the output of `deno doc --json`. */
interface Declaration extends Documented {
  location: { filename: string; line: number };
  def?: { properties?: Documented[] };
}

/** An entry of another library, which documents it. */
const FOREIGN = "@bellman/compute/tf";

/** Lists the entry points of packages. */
export function entriesOf(packages: readonly Package[]): Entry[] {
  return packages.flatMap((owner) =>
    owner.imports.map((name, i) => ({
      name,
      path: owner.entryPoints[i],
      folder: name.replace("@bellman/", "api/"),
      owner,
      doc: "",
    }))
  ).filter(({ name }) => name !== FOREIGN);
}

function settingsOf(properties: readonly Documented[]): ApiSymbol["settings"] {
  return properties.flatMap(({ name, jsDoc: { doc = "", tags = [] } = {} }) =>
    tags.filter(({ value }) => value?.startsWith("@alias "))
      .map(({ value }) => ({ name, doc, aliases: value!.slice(7) }))
  );
}

/** Lists the exported symbols of entry points, which get their documentation. */
export async function symbolsOf(
  entries: readonly Entry[],
): Promise<ApiSymbol[]> {
  const paths = entries.map(({ path }) => path);
  const { nodes } = JSON.parse(await denoOutput(["doc", "--json", ...paths]));
  type Node = { name: string; declarations: Declaration[] };
  return entries.flatMap((entry) => {
    const { symbols, module_doc } = nodes[`file://${ROOT}${entry.path}`];
    entry.doc = module_doc?.doc ?? "";
    return symbols.map(({ name, declarations: [first] }: Node) => ({
      name,
      doc: first.jsDoc?.doc ?? "",
      entry,
      address: `${entry.folder}/${name}.html`,
      file: first.location.filename.replace(`file://${ROOT}`, ""),
      // `deno doc` counts from 0.
      line: first.location.line + 1,
      settings: settingsOf(first.def?.properties ?? []),
    }));
  });
}

/** Groups what is one symbol, exported by several modules; its own package's is first. */
export function onceEach(symbols: readonly ApiSymbol[]): ApiSymbol[] {
  const isOwn = ({ file, entry }: ApiSymbol) =>
    Number(file.startsWith(`${entry.owner.folder}/`));
  const sorted = symbols.toSorted((a, b) => isOwn(b) - isOwn(a));
  return [
    ...Map.groupBy(sorted, ({ file, line }) => `${file}:${line}`).values(),
  ].map(([first]) => first);
}

/** Returns addresses of symbols by their name, of names that mean one thing. */
export function homesOf(once: readonly ApiSymbol[]): Map<string, string> {
  const groups = Map.groupBy(once, ({ name }) => name).values()
    .filter(({ length }) => length === 1);
  return new Map([...groups].map(([it]) => [it.name, it.address]));
}
