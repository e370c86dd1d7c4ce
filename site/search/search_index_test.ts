import { assertEquals } from "@std/assert";
import MiniSearch from "minisearch";
import type { ApiSymbol } from "../api/symbols.ts";
import { render } from "../pages/markdown.ts";
import { searchIndex } from "./search_index.ts";
import { find, type Found, OPTIONS } from "./terms.ts";

const PAGES = {
  "cli/index.html":
    "# Commands\n\nAll.\n\n## Resuming\n\nA killed run goes on.",
  "guides/own.html": "# Your own loop\n\nCall `act`, the runs are killed.",
};
const SYMBOL = {
  name: "A2CConfig",
  doc: "Settings of A2C.",
  entry: { name: "@bellman/a2c" },
  address: "api/a2c/A2CConfig.html",
  settings: [{
    name: "entropyCoefficient",
    doc: "Weight of the entropy.",
    aliases: "ent_coef, entropy_weight",
  }],
} as unknown as ApiSymbol;

const documents = Object.entries(PAGES).map(([address, text]) => {
  const rendered = render(text, (link) => link);
  return { address, source: "", text, head: null, rendered };
});
const index = MiniSearch.loadJSON<Found>(
  searchIndex(documents, [SYMBOL]),
  OPTIONS,
);

const QUERIES: Record<string, string> = {
  "resume killed run": "cli/index.html#resuming",
  "own loop": "guides/own.html",
  "ent_coef": "api/a2c/A2CConfig.html#property_entropycoefficient",
  "entropy coef": "api/a2c/A2CConfig.html#property_entropycoefficient",
  "a2cconf": "api/a2c/A2CConfig.html",
  "entropyCoeficient": "api/a2c/A2CConfig.html#property_entropycoefficient",
  "how do I write the loop of my own": "guides/own.html",
  "self-play": "guides/own_environment.html",
  "curriculum": "guides/callbacks_in_code.html",
  "imitation learning": "buffers/index.html#offline-sets",
  "behaviour cloning": "buffers/index.html#offline-sets",
  "SB3": "guides/from_stable_baselines3.html",
  "LSTM": "policies/index.html#what-is-in-it",
};

for (const [query, address] of Object.entries(QUERIES)) {
  Deno.test(`'${query}' finds ${address} first`, () => {
    assertEquals(find(index, query)[0]?.address, address);
  });
}

Deno.test("what is nowhere is not found", () => {
  assertEquals(find(index, "quaternion"), []);
});
