import { assert, assertEquals } from "@std/assert";
import { statisticName, STATISTICS, statisticTitle } from "./statistics.ts";

Deno.test("names are of one style, and each other name is of one statistic", () => {
  const names = STATISTICS.map(({ name }) => name);
  for (const name of names) {
    assert(
      /^(time|rollout|eval|self_play|train)\/[a-z0-9]+(_[a-z0-9]+)*$/.test(
        name,
      ),
      name,
    );
    assertEquals(statisticName(name), name);
  }
  const short = names.filter((it) => it.startsWith("train/"))
    .map((it) => it.slice(6));
  const all = [...names, ...short, ...STATISTICS.flatMap((it) => it.aliases)];
  assertEquals(all.length, new Set(all).size);
});

Deno.test("the README has the table of names", async () => {
  const readme = await Deno.readTextFile(
    new URL("../README.md", import.meta.url),
  );
  const [, table] = readme.split("## Names of statistics\n");
  const rows = table.split("\n").filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  // Without those that algorithms add, where any is loaded.
  const { STATISTICS } = await import("./statistics.ts?apart");
  assertEquals(
    rows,
    STATISTICS.map(({ name, title, aliases }) => [
      `\`${name}\``,
      title,
      aliases.map((it) => `\`${it}\``).join(", "),
    ]),
  );
});

Deno.test("titles are words, also of names that are not known", () => {
  assertEquals(statisticTitle("eprewmean"), "Return");
  assertEquals(statisticTitle("own-group/big__thing"), "Big thing");
  assertEquals(statisticTitle("cat/self_play/elo"), "cat: Elo rating");
  const titles = STATISTICS.map(({ title }) => title);
  assertEquals(new Set(titles).size, titles.length);
});
