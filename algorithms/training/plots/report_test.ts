import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { summarizeEpisodes } from "../evaluate.ts";
import { renderReport } from "./report.ts";

const progress = Array.from({ length: 30 }, (_, i) => ({
  step: i * 100,
  statistics: {
    "time/updates": i,
    "time/steps": i * 100,
    "time/steps_per_second": 5000,
    "train/my_statistic": i,
    "train/my_loss": i,
    "train/grad_norm": 1,
    "train/entropy": 1,
    "train/explained_variance": i < 3 ? NaN : 0.5,
    "train/value_loss": 30 - i,
    "rollout/return_mean": i,
    "rollout/length_mean": i,
  } as Record<string, number>,
}));

/** Headings of a page and titles of its curves, in order. */
function outline(html: string): string[] {
  // Of an image in two sizes, one.
  const page = html.replaceAll(/<div class="narrow">.*?<\/svg>/gs, "");
  return [...page.matchAll(/<h2>([^<]*)|bp-title"[^>]*>([^<]*)</g)]
    .map(([, heading, title]) => heading ?? title);
}

Deno.test("a report has titles in words, losses first", () => {
  assertEquals(outline(renderReport({ title: "A2C", progress })), [
    "Return",
    "Losses",
    "Value loss",
    "My loss",
    "Gradients and steps",
    "Gradient norm",
    "Policy",
    "Policy entropy",
    "Values",
    "Explained variance",
    "My statistic",
    "Episodes",
    "Episode length",
    "Speed",
    "Environment steps per second",
  ]);
});

Deno.test("a report's curves have the colours of their roles", () => {
  const html = renderReport({ title: "A2C", progress });
  const colors = html.split('bp-title"').slice(1).map((it) =>
    it.match(/[^<]*>([^<]*)<.*?bp-color(\d) bp-line/s)!.slice(1)
  );
  const of = Object.fromEntries(colors);
  assertEquals(of["Value loss"], of["My loss"]);
  assertEquals(
    new Set([
      of["Return"],
      of["Value loss"],
      of["Policy entropy"],
      of["Explained variance"],
      of["Gradient norm"],
      of["Environment steps per second"],
    ]).size,
    6,
  );
});

Deno.test("a report has every section", () => {
  const html = renderReport({
    title: "A2C",
    progress,
    command: "deno task train a2c --env CartPole-v1",
    evaluations: {
      "Best agent": {
        ...summarizeEpisodes([500], [500]),
        checkpoint: 80_000,
        deterministic: true,
        seed: 20_000,
      },
      "Last agent": {
        ...summarizeEpisodes([500], [500]),
        deterministic: false,
      },
    },
    origin: "Bellman 0.1.0 · 2026-11-23",
    details: { "Episodes": "5" },
    threshold: { value: 475, label: "solved: 475" },
    videos: [{ title: "Agent after 5 steps", data: Uint8Array.of(1, 2, 3) }],
    settings: [{ key: "lr", value: 0.1, default: 0.2 }, {
      key: "network",
      value: [64],
      default: null,
    }],
    configText: "lr: 0.1",
  });
  const headings = outline(html);
  for (
    const heading of [
      "Evaluation",
      "Videos of episodes",
      "What differs from the defaults",
      "Whole configuration",
    ]
  ) assert(headings.includes(heading), heading);
  assertEquals(headings.slice(-2), [
    "What differs from the defaults",
    "Whole configuration",
  ]);
  for (
    const text of [
      "deno task train a2c --env CartPole-v1",
      "<th>Best agent</th><th>Last agent</th>",
      "<th>checkpoint</th><td>step 80,000</td><td></td>",
      "<th>actions</th><td>the most likely</td><td>sampled</td>",
      "<th>seed of the episodes</th><td>20000</td><td></td>",
      ">Bellman 0.1.0 · 2026-11-23<",
      "<dt>Episodes</dt><dd>5</dd>",
      "solved: 475",
      'src="data:image/gif;base64,AQID"',
      "<figcaption>Agent after 5 steps</figcaption>",
      "<th>lr</th><td>0.1</td><td>0.2</td>",
      "<th>network</th><td>[64]</td><td>null</td>",
      "<pre>lr: 0.1</pre>",
    ]
  ) assertStringIncludes(html, text);
});

Deno.test("evaluations and episodes are drawn where there are some", () => {
  const legend = (html: string) =>
    [...html.matchAll(/class="bp-text" x="24">([^<]*)</g)].map(([, name]) =>
      name
    );
  // Each twice: for wide windows and for phones.
  assertEquals([...new Set(legend(renderReport({ title: "A2C", progress })))], [
    "training, mean of the last 100 episodes",
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
  assertEquals([...new Set(legend(html))], [
    "training, mean of the last 100 episodes",
    "evaluations, lowest to highest",
    "episodes of training",
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
  assertStringIncludes(html, "<th>Last &lt;agent&gt;</th><th>Best</th>");
  assertStringIncludes(
    html,
    "<th>mean return</th><td>500 ± 0.8</td><td>500 ± 0</td>",
  );
  assertStringIncludes(html, "<pre>env: &lt;b&gt;</pre>");
});

Deno.test("a report needs no other file and no script", () => {
  const html = renderReport({ title: "A2C", progress });
  assert(!/<script|<link|<img|src=|href=|url\(|@import/.test(html));
  const data = Uint8Array.of(1);
  const videos = [{ title: "a", data }];
  const filmed = renderReport({ title: "A2C", progress, videos });
  assertEquals(filmed.match(/src="(?!data:)/), null);
});

Deno.test("a run that logged nothing has a report", () => {
  const html = renderReport({ title: "A2C", progress: [] });
  assertStringIncludes(html, "no data");
  assertEquals(html.includes("NaN"), false);
});
