/** Evaluates expressions in a page: see `inPage`. Prints a report as JSON. */
import type { PageReport } from "./run_page.ts";
import { withPage } from "./with_page.ts";

const [folder, ...expressions] = Deno.args;
await withPage(folder, async ({ page, complaints }) => {
  const report: PageReport = { values: [], complaints };
  for (const it of expressions) report.values.push(await page.evaluate(it));
  console.log(JSON.stringify(report));
});
