/**
 * Generates the JSON schemas of the configuration types: `config.schema.json`
 * beside each `algorithms/NAME/config.ts`, and that of a run. The documented
 * type is the one source of help, schema and defaults; `@defaults` of the type
 * gives settings that it takes from another one defaults of its own. `--check`
 * only says whether the files are current.
 */
import { createGenerator } from "npm:ts-json-schema-generator@^2.9.0";
import { packages, ROOT } from "./packages.ts";

const PACKAGES = await packages();

const SOURCES = [
  "lab/runs/settings/run_config.ts",
  ...PACKAGES.filter(({ isAlgorithm }) => isAlgorithm)
    .map(({ folder }) => `${folder}/config.ts`),
];

/** Returns the configuration type that a file exports, such as `A2CConfig`. */
function configTypeOf(source: string): string {
  const text = Deno.readTextFileSync(ROOT + source);
  const name = /^export interface (\w+Config)\b/m.exec(text)?.[1];
  if (name !== undefined) return name;
  throw new SyntaxError(
    `Cannot make a schema of ${source}: expected an exported interface whose name ends in Config`,
  );
}

/** Tells TypeScript where the packages lie that a configuration takes types of. */
const TSCONFIG = await Deno.makeTempFile({ suffix: ".json" });
addEventListener("unload", () => Deno.removeSync(TSCONFIG));
await Deno.writeTextFile(
  TSCONFIG,
  JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      target: "ESNext",
      module: "ESNext",
      moduleResolution: "bundler",
      paths: Object.fromEntries(
        PACKAGES.flatMap(({ name, folder }) => [
          [name, [`${ROOT}${folder}/mod.ts`]],
          [`${name}/*`, [`${ROOT}${folder}/*/mod.ts`]],
        ]),
      ),
    },
    files: SOURCES.map((source) => ROOT + source),
  }),
);

function generate(source: string): string {
  const type = configTypeOf(source);
  const generator = createGenerator({
    path: ROOT + source,
    tsconfig: TSCONFIG,
    type,
    expose: "none",
    topRef: false,
    additionalProperties: false,
    skipTypeCheck: true,
    sortProps: false,
    extraTags: ["alias", "items", "limit", "defaults"],
  });
  const { definitions: _, defaults, ...schema } = generator.createSchema(
    type,
  ) as Record<string, unknown>;
  const properties = schema.properties as Record<string, { default: unknown }>;
  for (const [key, value] of Object.entries(defaults ?? {})) {
    if (properties[key] === undefined) {
      throw new SyntaxError(
        `Cannot make a schema of ${source}: @defaults names '${key}', which ${type} lacks`,
      );
    }
    properties[key].default = value;
  }
  const title = { $schema: schema.$schema, title: type };
  return JSON.stringify({ ...title, ...schema }, null, 2) + "\n";
}

let stale = 0;
for (const source of SOURCES) {
  const target = source.replace(/\.ts$/, ".schema.json");
  const path = ROOT + target;
  const text = generate(source);
  const current = await Deno.readTextFile(path).catch(() => "");
  if (current === text) continue;
  if (Deno.args.includes("--check")) {
    console.error(`${target} is not current: run 'deno task schema'`);
    stale++;
  } else {
    await Deno.writeTextFile(path, text);
    console.log(`wrote ${target}`);
  }
}
if (stale > 0) Deno.exit(1);
