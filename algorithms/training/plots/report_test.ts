import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { summarizeEpisodes } from "../evaluate.ts";
import { renderReport } from "./report.ts";

const progress = Array.from({ length: 30 }, (_, i) => ({
  step: i * 100,
  statistics: {
    "time/updates": i,
    "time/steps": i * 100,
    "time/steps_per_second": 5000,
    my_statistic: i,
    "train/value_loss": 30 - i,
    "train/explained_variance": i < 3 ? NaN : 0.5,
    "rollout/return_mean": i,
    "rollout/length_mean": i,
  } as Record<string, number>,
}));

Deno.test("a report has a curve for each statistic, well-known ones first", () => {
  const html = renderReport({ title: "A2C", progress });
  const titles = [...html.matchAll(/bp-title"[^>]*>([^<]*)</g)]
    .map(([, title]) => title);
  assertEquals(titles, [
    "Return",
    "Value loss",
    "Explained variance",
    "Environment steps per second",
    "Episode length",
    "My statistic",
  ]);
});

Deno.test("evaluations and episodes are drawn where there are some", () => {
  const legend = (html: string) =>
    [...html.matchAll(/class="bp-text" x="24">([^<]*)</g)].map(([, name]) =>
      name
    );
  assertEquals(legend(renderReport({ title: "A2C", progress })), [
    "mean of the last episodes",
  ]);
  const evaluated = {
    step: 1000,
    statistics: {
      "time/steps": 1000,
      "eval/return_mean": 5,
      "eval/return_min": 4,
      "eval/return_max": 6,
    },
  };
  const episode = { step: 5, env: 0, return: 3, length: 3, terminated: true };
  const html = renderReport({
    title: "A2C",
    progress: [...progress, evaluated],
    episodes: [episode],
  });
  assertEquals(legend(html), [
    "mean of the last episodes",
    "evaluation, lowest to highest",
    "episodes",
  ]);
});

Deno.test("facts, evaluation and configuration are shown, escaped", () => {
  const html = renderReport({
    title: "A2C on <CartPole>",
    progress,
    details: { steps: "200,000" },
    evaluations: {
      "Last <agent>": summarizeEpisodes([499, 500, 501], [499, 500, 501]),
      "Best": summarizeEpisodes([500], [500]),
    },
    configText: "env: <b>\n",
  });
  assertStringIncludes(html, "<h1>A2C on &lt;CartPole&gt;</h1>");
  assertStringIncludes(html, "<dt>steps</dt><dd>200,000</dd>");
  const [, last, best] = html.split(/<h2>(?=Last|Best)/);
  assertStringIncludes(last, "Last &lt;agent&gt;</h2>");
  assertStringIncludes(last, "<dt>mean return</dt><dd>500 ± 0.8</dd>");
  assertStringIncludes(best, "<dt>mean return</dt><dd>500 ± 0</dd>");
  assertStringIncludes(html, "<pre>env: &lt;b&gt;</pre>");
});

Deno.test("a report needs no other file and no script", () => {
  const html = renderReport({ title: "A2C", progress });
  assert(!/<script|<link|<img|src=|href=|url\(|@import/.test(html));
});

Deno.test("a run that logged nothing has a report", () => {
  const html = renderReport({ title: "A2C", progress: [] });
  assertStringIncludes(html, "no data");
  assertEquals(html.includes("NaN"), false);
});
