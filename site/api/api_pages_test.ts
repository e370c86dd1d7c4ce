import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { packages } from "../../tests/tools/packages.ts";
import { apiPages } from "./api_pages.ts";
import { entriesOf, onceEach, symbolsOf } from "./symbols.ts";

const all = await packages();
const entries = entriesOf(all);
const symbols = await symbolsOf(entries);
const own = entries.filter(({ owner }) => owner.name === "@bellman/files");
const pages = await apiPages(own, {
  symbols,
  homes: new Map([["StateTree", "api/types/StateTree.html"]]),
  readmeOf: () => "files/index.html",
  sourceOf: (file, line) => `https://example.org/${file}#L${line}`,
});
const page = (address: string) =>
  pages.find((it) => it.address === address)?.body ?? "";

Deno.test("each exported symbol of each entry point has a page", () => {
  const addresses = [
    ...symbols.filter(({ entry }) => own.includes(entry))
      .map(({ address }) => address),
    ...own.map(({ folder }) => `${folder}/index.html`),
  ];
  assert(addresses.length > 20, `${addresses.length} pages`);
  assertEquals(pages.map((it) => it.address).sort(), addresses.sort());
});

Deno.test("a page names no file of this machine, and has a line of its source", async () => {
  for (const { address, body } of pages) {
    assert(!/href="file:|\.html" class="link">mod/.test(body), address);
    assertEquals(body.match(/<(?:svg|button|script|main)/g), null, address);
    assertEquals(body.match(/<h1/g)?.length, 1, address);
  }
  const body = page("api/files/loadStateSync.html");
  const [, file, line] =
    /<a href="https:\/\/example\.org\/([^#]+)#L(\d+)">source<\/a>/.exec(body)!;
  const lines = (await Deno.readTextFile(file)).split("\n");
  assertStringIncludes(lines[Number(line) - 1], "loadStateSync");
});

Deno.test("a page says how to import, and leads to other packages and modules", () => {
  const body = page("api/files/loadStateSync.html");
  assertStringIncludes(body, "&quot;@bellman/files&quot;");
  assertStringIncludes(
    page("api/files/npz/index.html"),
    "@bellman/files/npz</h1>",
  );
  assertStringIncludes(page("api/files/index.html"), 'href="npz/index.html"');
  assert(pages.some((it) => it.body.includes("../types/StateTree.html")));
});

Deno.test("settings have their names in other libraries, and are found once", () => {
  const settings = onceEach(symbols).flatMap((it) =>
    it.settings.map((setting) => ({ ...setting, address: it.address }))
  );
  const found = settings.filter(({ name, aliases, address }) =>
    name === "entropyCoefficient" && /\bent_coef\b/.test(aliases) &&
    address.endsWith("/OnPolicyConfig.html")
  );
  assertEquals(found.map(({ address }) => address), [
    "api/a2c/OnPolicyConfig.html",
  ]);
});
