/**
 * Makes the JSON schemas of the configurations from their TypeScript types, so
 * that the documented type is the one source of the help, the YAML schema and
 * the defaults. `--check` only says whether the files are current.
 */
import { createGenerator } from "ts-json-schema-generator";

const CONFIGS = [
  {
    type: "RunConfig",
    source: "cli/config/run_config.ts",
    target: "cli/config/run_config.schema.json",
  },
  {
    type: "A2CConfig",
    source: "algorithms/a2c/config.ts",
    target: "algorithms/a2c/config.schema.json",
  },
  {
    type: "SacConfig",
    source: "algorithms/sac/config.ts",
    target: "algorithms/sac/config.schema.json",
  },
];

const ROOT = new URL("../../", import.meta.url);

function generate(source: string, type: string): string {
  const generator = createGenerator({
    path: new URL(source, ROOT).pathname,
    type,
    topRef: false,
    additionalProperties: false,
    skipTypeCheck: true,
    sortProps: false,
    extraTags: ["alias", "items"],
  });
  const { definitions: _, ...schema } = generator.createSchema(type);
  const title = { $schema: schema.$schema, title: type };
  return JSON.stringify({ ...title, ...schema }, null, 2) + "\n";
}

let stale = 0;
for (const { type, source, target } of CONFIGS) {
  const path = new URL(target, ROOT);
  const text = generate(source, type);
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
