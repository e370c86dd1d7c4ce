// deno-lint-ignore-file no-console -- a program that prints
/**
 * Packs the packages for npm: `deno task pack [--out DIR]` leaves a tarball of
 * each in a folder, `npm` by default, but of the command line, which needs Deno. `npm install DIR/*.tgz` then takes those
 * that are named from there, and what they need from the registry.
 *
 * `deno pack` translates the files; what it says of dependencies is replaced:
 * packages of one release need each other, in that very version, and native
 * libraries are for users to add.
 */
import { parseArgs } from "@std/cli";
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { KOFFI_VERSION, packages, ROOT } from "./packages.ts";

/** The versions of Node that are tested. */
const ENGINES = { node: "^22.12.0 || ^24.0.0" };

/** Packages that are large or native, and looked up when they are asked for. */
const OPTIONAL = [
  "onnxruntime-node",
  "@tensorflow/tfjs-node-gpu",
  "@mujoco/mujoco",
];

/** First line of a file whose types are not checked. */
const UNCHECKED = "// @ts-nocheck\n";

type Versions = Record<string, string>;

/** What is read and replaced of a `package.json`. */
interface Manifest {
  version: string;
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

/** Imports packages by npm's names, and checks types again. */
async function rename(folder: string): Promise<void> {
  for (const path of filesBelow(folder)) {
    if (!/\.(js|ts|md)$/.test(path)) continue;
    const text = await Deno.readTextFile(path);
    const renamed = text.replace(UNCHECKED, "").replaceAll(
      /(\bfrom\s*|\bimport\s*\(?\s*)"([^"\n]+)"/g,
      (whole, before, name) =>
        name in names ? `${before}"${names[name]}"` : whole,
    );
    if (renamed !== text) await Deno.writeTextFile(path, renamed);
  }
}

/** Names of the packages that translated modules import. */
function importsOf(folder: string): string[] {
  const names = filesBelow(folder)
    .filter((path) => /\.(js|d\.ts)$/.test(path))
    .flatMap((path) => {
      // The examples of comments import more.
      const code = Deno.readTextFileSync(path).replace(/\/\*.*?\*\//gs, "");
      const from =
        /(?:\bfrom|\bimport\(|\bimport)\s*"((?:@[a-z0-9.-]+\/)?[a-z0-9][a-z0-9.-]*)(?=[/"])/g;
      return [...code.matchAll(from)].map(([, name]) => name);
    });
  return [...new Set(names)].sort();
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

const packed = (await packages()).filter(({ folder }) => folder !== "cli");
const { versions, names } = await knownPackages();

/** Completes what `deno pack` has written of a package that imports others. */
function complete(
  { version, ...manifest }: Manifest,
  imports: readonly string[],
): Manifest {
  const rangeOf = (name: string) => {
    const range = name.startsWith("@bellman/")
      ? version
      : versions[name] ?? manifest.dependencies?.[name];
    if (range !== undefined) return range;
    throw new Error(`Cannot pack an import of ${name}: deno.json has none`);
  };
  const ranges = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, rangeOf(name)]));
  const peers = imports.filter((it) => OPTIONAL.includes(it));
  const optional = ranges(peers);
  // It calls the library of the other.
  if ("onnxruntime-node" in optional) optional.koffi = KOFFI_VERSION;
  return {
    ...manifest,
    version,
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
  source: string,
): Promise<string> {
  await Deno.mkdir(folder);
  await run("tar", ["-xzf", archive], folder);
  const inside = join(folder, "package");
  await rename(inside);
  // Some modules read their version there.
  await Deno.copyFile(join(source, "deno.json"), join(inside, "deno.json"));
  const path = join(inside, "package.json");
  const manifest = JSON.parse(await Deno.readTextFile(path));
  const completed = complete(manifest, importsOf(inside));
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
  const flags = ["-q", "--allow-dirty", "--no-source-maps"];
  const config = ["-c", join(source, "deno.json")];
  await run(Deno.execPath(), ["pack", ...flags, ...config], work);
  const archives = [...Deno.readDirSync(work)].map(({ name }) => name);
  const folders: string[] = [];
  for (const { name, folder } of packed) {
    const base = name.slice(1).replace("/", "-");
    const archive = archives.find((it) => it.match(`^${base}-\\d`))!;
    folders.push(
      await unpack(join(work, archive), join(work, base), join(ROOT, folder)),
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
