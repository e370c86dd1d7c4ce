// deno-lint-ignore-file no-console -- a program that prints
/**
 * Packs the packages for npm: `deno task pack [--out DIR]` leaves a tarball of
 * each in a folder, `npm` by default. `npm install DIR/*.tgz` then takes those
 * that are named from there, and what they need from the registry.
 *
 * `deno pack` translates the files; what it says of dependencies is replaced:
 * packages of one release need each other, in that very version, and native
 * libraries are for users to add.
 */
import { parseArgs } from "@std/cli";
import {
  type ModuleDeclaration,
  parse,
  type Statement,
} from "npm:acorn@^8.15.0";
import { decode, encode } from "npm:@jridgewell/sourcemap-codec@^1.6.0";
import { cpSync, existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { completeDeclarations } from "./declarations.ts";
import { descriptionOf, keywordsOf, repositoryUrl } from "./manifest.ts";
import { KOFFI_VERSION, type Package, packages, ROOT } from "./packages.ts";

/** Node with all that is used; 22, 24 and 26 are tested. */
const ENGINES = { node: ">=22.12.0" };

/** Packages that are large or native, and looked up when they are asked for. */
const OPTIONAL = [
  "onnxruntime-node",
  "@tensorflow/tfjs-node-gpu",
  "@mujoco/mujoco",
  "h5wasm",
];

/** Who steps tensors has the package with their types. */
const TENSOR_TYPES = "@bellman/envs @bellman/compute";

/** First line of a file whose types are not checked. */
const UNCHECKED = "// @ts-nocheck\n";

type Versions = Record<string, string>;

/** What is read and replaced of a `package.json`. */
interface Manifest {
  name: string;
  version: string;
  sideEffects?: string[] | false;
  engines?: Versions;
  dependencies?: Versions;
  peerDependencies?: Versions;
  peerDependenciesMeta?: Record<string, { optional: true }>;
}

/**
 * Versions of the packages that `deno.json` takes from npm, and npm's names of those
 * that are imported by another one.
 */
async function knownPackages(): Promise<
  { versions: Versions; names: Versions }
> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const parts = /^npm:(?<name>@?[^@]+)@(?<version>[^/]+)/;
  const versions: Versions = {}, names: Versions = {};
  for (const [key, specifier] of Object.entries<string>(imports)) {
    const found = specifier.match(parts);
    if (found === null) continue; // JSR's are imported by examples only.
    const { name, version } = found.groups!;
    versions[name] = version;
    if (!`${key}/`.startsWith(`${name}/`)) names[key] = name;
  }
  return { versions, names };
}

/** Imports packages by npm's names. */
function withNames(text: string): string {
  return text.replaceAll(
    /(\bfrom\s*|\bimport\s*\(?\s*)"([^"\n]+)"/g,
    (whole, before, name) =>
      name in names ? `${before}"${names[name]}"` : whole,
  );
}

/** A map that follows the code that it is of, in the same file. */
const INLINE_MAP =
  /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/;

/** Lays the map of a module beside it, without the line that leaves its types unchecked. */
async function writeModule(path: string, text: string): Promise<void> {
  const [comment, encoded] = INLINE_MAP.exec(text) ?? [];
  const code = withNames(text.replace(UNCHECKED, ""));
  if (comment === undefined) return await Deno.writeTextFile(path, code);
  const map = JSON.parse(atob(encoded));
  const [, ...lines] = decode(map.mappings);
  for (const segment of lines.flat()) segment[2]! -= 1;
  const name = basename(path);
  const [content] = map.sourcesContent as string[];
  await Deno.writeTextFile(
    `${path}.map`,
    JSON.stringify({
      ...map,
      sources: [name.replace(/\.js$/, ".ts")],
      sourcesContent: [content.replace(UNCHECKED, "")],
      mappings: encode(lines),
    }),
  );
  const moved = `//# sourceMappingURL=${name}.map\n`;
  await Deno.writeTextFile(path, code.replace(comment, moved));
}

/** Names of `@std/assert` that examples use, as Node has them. */
const ASSERTIONS: Versions = {
  assert: "ok",
  assertEquals: "deepStrictEqual",
  assertMatch: "match",
  assertRejects: "rejects",
  assertThrows: "throws",
};

/** Makes examples and install lines of a README those of npm and Node. */
function readmeOf(text: string): string {
  return withNames(text)
    .replaceAll(
      /^deno add .*$/gm,
      (line) =>
        line.replace("deno add", "npm install")
          .replaceAll(/ (?:\S+@)?(?:jsr|npm):/g, " "),
    )
    .replaceAll(
      /^import \{ ([^}]+) \} from "@std\/assert";$/gm,
      (line, list: string) => {
        const known = list.split(", ").map((it) => [ASSERTIONS[it], it]);
        if (known.some(([node]) => node === undefined)) return line;
        const renamed = known.map(([node, it]) => `${node} as ${it}`);
        return `import { ${renamed.join(", ")} } from "node:assert";`;
      },
    );
}

/** Makes the files of a package those of npm, and checks types again. */
async function rewrite(folder: string): Promise<void> {
  for (const path of filesBelow(folder)) {
    if (!/\.(js|ts|md)$/.test(path)) continue;
    const text = await Deno.readTextFile(path);
    if (path.endsWith(".js")) {
      await writeModule(path, text);
      continue;
    }
    const change = path.endsWith(".md") ? readmeOf : withNames;
    await Deno.writeTextFile(path, change(text.replace(UNCHECKED, "")));
  }
}

/** Translated code without comments; the examples of comments import more. */
function codeOf(path: string): string {
  return Deno.readTextFileSync(path).replace(/\/\*.*?\*\//gs, "");
}

/** Statements that only declare, import or export. */
const DECLARATION = /^(Import|Export)|Declaration$/;

/** Returns true for a statement that acts when its module is loaded, such as a call. */
function acts(statement: Statement | ModuleDeclaration): boolean {
  if (statement.type === "ImportDeclaration") {
    return statement.specifiers.length === 0;
  }
  // Functions that nobody calls tell Deno what to fetch.
  const isVoid = statement.type === "ExpressionStatement" &&
    statement.expression.type === "UnaryExpression";
  return !DECLARATION.test(statement.type) && !isVoid;
}

/** What bundlers ask about a module. */
interface ModuleEffects {
  /** True where loading it acts. */
  readonly acts: boolean;
  /** Paths of the modules of the same package that are loaded with it. */
  readonly imports: readonly string[];
}

function effectsOf(path: string): ModuleEffects {
  const { body } = parse(Deno.readTextFileSync(path), {
    ecmaVersion: "latest",
    sourceType: "module",
    allowHashBang: true,
  });
  const sources = body.flatMap((it) => "source" in it ? [it.source?.value] : [])
    .filter((it) => typeof it === "string" && it.startsWith("."));
  return {
    acts: body.some(acts),
    imports: sources.map((it) => join(dirname(path), it as string)),
  };
}

/**
 * Lists the modules that bundlers may not leave out where nothing is imported from them:
 * those that act, and those that import one that does.
 */
function sideEffectsOf(folder: string): string[] | false {
  const modules = filesBelow(folder).filter((path) => path.endsWith(".js"))
    .map((path) => [path, effectsOf(path)] as const);
  const acting = new Set<string>();
  for (let size = -1; size < acting.size;) {
    size = acting.size;
    for (const [path, { acts, imports }] of modules) {
      if (acts || imports.some((it) => acting.has(it))) acting.add(path);
    }
  }
  if (acting.size === 0) return false;
  return Array.from(acting, (path) => `./${relative(folder, path)}`).sort();
}

/** Names of the packages that translated modules import. */
function importsOf(folder: string): string[] {
  const names = filesBelow(folder)
    .filter((path) => /\.(js|d\.ts)$/.test(path))
    .flatMap((path) => {
      const from =
        /(?:\bfrom|\bimport\(|\bimport)\s*"((?:@[a-z0-9.-]+\/)?[a-z0-9][a-z0-9.-]*)(?=[/"])/g;
      return [...codeOf(path).matchAll(from)].map(([, name]) => name);
    });
  return [...new Set(names)].sort();
}

/** Module that only Deno needs, and the one that takes its place. */
const DENO_ONLY = "runtime/deno_packages.js";
const NOTHING = "export const addresses = {};\n";

/** Leaves out imports that Deno needs, and bundlers follow in vain. */
async function leaveOut(folder: string): Promise<void> {
  const path = join(folder, DENO_ONLY);
  if (existsSync(path)) await Deno.writeTextFile(path, NOTHING);
}

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(join(folder, name)) : [join(folder, name)]
  );
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  if (success) return;
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  throw new Error(`${program} ${args.join(" ")}: ${err}${out}`);
}

const packed = await packages();
const { versions, names } = await knownPackages();

/** Tells whose a package is, and where. */
function originOf(folder: string): object {
  const repository = repositoryUrl();
  if (repository === undefined) return {};
  return {
    homepage: `${repository}/tree/main/${folder}#readme`,
    repository: {
      type: "git",
      url: `git+${repository}.git`,
      directory: folder,
    },
    bugs: `${repository}/issues`,
  };
}

/** Packages that are programs, too: their names on the command line. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "@bellman/cli": "bellman",
};
const PROGRAM_FILE = "bin.js";

/** Starts the program of a package in Node. */
const PROGRAM = '#!/usr/bin/env node\nimport "./main.js";\n';

/** Completes what `deno pack` has written of a package, which lies unpacked in a folder. */
function complete(
  { name, version, ...manifest }: Manifest,
  inside: string,
  { folder }: Package,
): Manifest {
  const imports = importsOf(inside);
  const rangeOf = (name: string) => {
    const range = name.startsWith("@bellman/")
      ? version
      : versions[name] ?? manifest.dependencies?.[name];
    if (range !== undefined) return range;
    throw new Error(`Cannot pack an import of ${name}: deno.json has none`);
  };
  const ranges = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, rangeOf(name)]));
  const peers = imports.filter((it) =>
    OPTIONAL.includes(it) || `${name} ${it}` === TENSOR_TYPES
  );
  // Users install the newest one.
  const optional = Object.fromEntries(
    peers.map((name) => [name, rangeOf(name).replace(/^(?=\d)/, "^")]),
  );
  // It calls the library of the other.
  if ("onnxruntime-node" in optional) optional.koffi = KOFFI_VERSION;
  return {
    name,
    version,
    ...{ description: descriptionOf(folder), keywords: keywordsOf(name) },
    ...originOf(folder),
    ...manifest,
    ...name in PROGRAMS && { bin: { [PROGRAMS[name]]: PROGRAM_FILE } },
    sideEffects: sideEffectsOf(inside),
    engines: ENGINES,
    dependencies: ranges(imports.filter((it) => !peers.includes(it))),
    peerDependencies: optional,
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(optional).map((name) => [name, { optional: true }]),
    ),
  };
}

/** Unpacks what `deno pack` made of a package, and completes it. */
async function unpack(
  archive: string,
  folder: string,
  source: Package,
): Promise<string> {
  await Deno.mkdir(folder);
  await run("tar", ["-xzf", archive], folder);
  const inside = join(folder, "package");
  await rewrite(inside);
  if (source.name in PROGRAMS) {
    await Deno.writeTextFile(join(inside, PROGRAM_FILE), PROGRAM);
  }
  // Some modules read their version there.
  const config = join(ROOT, source.folder, "deno.json");
  await Deno.copyFile(config, join(inside, "deno.json"));
  const path = join(inside, "package.json");
  const manifest = JSON.parse(await Deno.readTextFile(path));
  const declarations = filesBelow(inside).filter((it) => it.endsWith(".d.ts"));
  await completeDeclarations(inside, manifest.name, declarations);
  const completed = complete(manifest, inside, source);
  await leaveOut(inside);
  await Deno.writeTextFile(path, JSON.stringify(completed, null, 2) + "\n");
  return inside;
}

/**
 * Copies the packages, with types that nobody checks: `deno pack` would do so
 * for each package anew, in minutes, and `deno task check` has done it.
 */
async function copyUnchecked(to: string): Promise<void> {
  const config = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const workspace = packed.map(({ folder }) => folder);
  for (const folder of ["deno.lock", "tests/links", ...workspace]) {
    cpSync(join(ROOT, folder), join(to, folder), { recursive: true });
  }
  await Deno.writeTextFile(
    join(to, "deno.json"),
    JSON.stringify({ ...config, workspace }),
  );
  for (const path of filesBelow(to)) {
    if (!path.endsWith(".ts")) continue;
    await Deno.writeTextFile(path, UNCHECKED + await Deno.readTextFile(path));
  }
}

/** Packs all packages into a folder. */
async function packAll(out: string, work: string): Promise<void> {
  const source = join(work, "source");
  await copyUnchecked(source);
  const flags = ["-q", "--allow-dirty"];
  const config = ["-c", join(source, "deno.json")];
  await run(Deno.execPath(), ["pack", ...flags, ...config], work);
  const archives = [...Deno.readDirSync(work)].map(({ name }) => name);
  const folders: string[] = [];
  for (const source of packed) {
    const base = source.name.slice(1).replace("/", "-");
    const archive = archives.find((it) => it.match(`^${base}-\\d`))!;
    folders.push(
      await unpack(join(work, archive), join(work, base), source),
    );
  }
  await Deno.mkdir(out, { recursive: true });
  await run("npm", ["pack", ...folders, "--pack-destination", out], work);
}

const { out, _: rest, ...unknown } = parseArgs(Deno.args, {
  string: ["out"],
  default: { out: "npm" },
});
if (rest.length > 0 || Object.keys(unknown).length > 0) {
  console.error("usage: deno task pack [--out DIR]");
  Deno.exit(2);
}
const work = await Deno.makeTempDir({ prefix: "bellman-pack-" });
try {
  await packAll(resolve(out as string), work);
} finally {
  await Deno.remove(work, { recursive: true });
}
console.log(`packed ${packed.length} packages into ${out}`);
