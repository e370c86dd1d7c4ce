import { type Package, ROOT } from "../../tests/tools/packages.ts";
import { apiFolder } from "../pages/lists.ts";

/** A module that is imported by a name. */
export interface Entry {
  /** Name that it is imported by: `@bellman/envs/atari`. */
  name: string;
  /** Path from the root of the checkout. */
  path: string;
  /** Folder of its pages. */
  folder: string;
  owner: Package;
}

/** A setting: a property of an exported interface with names of other libraries. */
interface Setting {
  name: string;
  doc: string;
  aliases: string;
}

/** An exported symbol with its page. */
export interface ApiSymbol {
  name: string;
  kind: string;
  doc: string;
  entry: Entry;
  address: string;
  /** File and line of its first declaration, which tell what is exported twice. */
  file: string;
  line: number;
  settings: Setting[];
}

/** What is read of the output of `deno doc --json`. */
interface Declaration {
  kind: string;
  location: { filename: string; line: number };
  jsDoc?: { doc?: string };
  def?: {
    properties?: {
      name: string;
      jsDoc?: { doc?: string; tags?: { value?: string }[] };
    }[];
  };
}

type Nodes = Record<
  string,
  { symbols: { name: string; declarations: Declaration[] }[] }
>;

/** Runs `deno doc` in the root, and returns its output. */
export async function denoDoc(args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout);
}

/** Lists the entry points of packages. */
export function entriesOf(packages: readonly Package[]): Entry[] {
  return packages.flatMap((owner) =>
    owner.entryPoints.map((path, i) => ({
      name: owner.imports[i],
      path,
      folder: apiFolder(owner.imports[i]),
      owner,
    }))
  );
}

const ALIAS = /^@alias /;

function settingsOf({ def }: Declaration): Setting[] {
  return (def?.properties ?? []).flatMap(({ name, jsDoc = {} }) => {
    const { doc = "", tags = [] } = jsDoc;
    const [alias] = tags.filter(({ value = "" }) => ALIAS.test(value));
    if (alias === undefined) return [];
    return [{ name, doc, aliases: alias.value!.replace(ALIAS, "") }];
  });
}

/** Lists the exported symbols of entry points, by one run of `deno doc --json`. */
export async function symbolsOf(
  entries: readonly Entry[],
): Promise<ApiSymbol[]> {
  const paths = entries.map(({ path }) => path);
  const { nodes }: { nodes: Nodes } = JSON.parse(
    await denoDoc(["--json", ...paths]),
  );
  return entries.flatMap((entry) =>
    nodes[`file://${ROOT}${entry.path}`].symbols.map(
      ({ name, declarations: [first] }) => ({
        name,
        kind: first.kind,
        doc: first.jsDoc?.doc ?? "",
        entry,
        address: `${entry.folder}/${name}.html`,
        file: first.location.filename.replace(`file://${ROOT}`, ""),
        // `deno doc` counts from 0.
        line: first.location.line + 1,
        settings: settingsOf(first),
      }),
    )
  );
}

/**
 * Addresses of symbols by name: in the package that declares them, where all that are
 * called so are the same one.
 */
export function homesOf(symbols: readonly ApiSymbol[]): Map<string, string> {
  const homes = new Map<string, string>();
  for (const [name, all] of Map.groupBy(symbols, (it) => it.name)) {
    const places = new Set(all.map(({ file, line }) => `${file}:${line}`));
    const own = all.find(({ file, entry }) =>
      file.startsWith(`${entry.owner.folder}/`)
    );
    if (places.size === 1 && own !== undefined) homes.set(name, own.address);
  }
  return homes;
}
