/** Evaluates expressions in a page: see `inPage`. Prints a report as JSON. */
import type { PageReport } from "./run_page.ts";
import { withFile, withPage } from "./with_page.ts";

const [place, ...expressions] = Deno.args;
const open: typeof withFile = place.endsWith(".html") ? withFile : withPage;
await open(place, async ({ page, complaints }) => {
  const report: PageReport = { values: [], complaints };
  for (const it of expressions) report.values.push(await page.evaluate(it));
  console.log(JSON.stringify(report));
});
