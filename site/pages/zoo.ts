import { PLAYED } from "../playground/protocol.ts";
import { isThere } from "./documents.ts";
import type { Page } from "./layout.ts";
import type { Read } from "./lists.ts";
import { escapeMarkup } from "@bellman/training/plots";
import { anchor, linkTo } from "./site.ts";

/** An agent of the zoo, as its card says. */
export interface Agent {
  document: Read;
  /** Algorithm and environment. */
  name: string;
  /** Return as the card writes it; undefined where it has none. */
  score?: string;
  /** Path of its moving picture; undefined without one. */
  picture?: string;
  /** Path of its policy, where pages have the environment. */
  policy?: string;
  /** True where the picture is drawn on white, as pages draw environments. */
  isOnWhite: boolean;
}

/** Finds the first value of a metric in a card's head, which nobody has checked. */
function scoreIn(head: unknown): string | undefined {
  if (typeof head !== "object" || head === null) return undefined;
  for (const [key, value] of Object.entries(head)) {
    const found = key === "value" ? String(value) : scoreIn(value);
    if (found !== undefined) return found.replace("+/-", "±");
  }
  return undefined;
}

/** Lists the agents among the documents. */
export function agentsOf(documents: readonly Read[]): Agent[] {
  return documents.flatMap((document) => {
    const [, folder, algorithm, env] =
      /^(zoo\/([^/]+)\/([^/]+))\/README\.md$/.exec(document.source) ?? [];
    if (folder === undefined) return [];
    const file = (name: string) =>
      isThere(`${folder}/${name}`) ? `${folder}/${name}` : undefined;
    const isPlayed = PLAYED.includes(env);
    return [{
      document,
      name: `${algorithm} on ${env}`,
      score: scoreIn(Object(document.head)["model-index"]),
      picture: file("play.gif"),
      policy: isPlayed ? file("policy.onnx") : undefined,
      isOnWhite: isPlayed,
    }];
  });
}

/** Writes the class of a picture that would glare in the dark. */
export const classOf = ({ isOnWhite }: Pick<Agent, "isOnWhite">): string =>
  isOnWhite ? ' class="on-white"' : "";

/** Writes the link that opens the playground with an agent; nothing where it cannot. */
export function playLink(from: string, { policy }: Agent): string {
  if (policy === undefined) return "";
  const playground = "playground/index.html";
  const query = encodeURIComponent(linkTo(playground, policy));
  const link = `${linkTo(from, playground)}?policy=${query}`;
  return `<a class="button" href="${link}">Play it here</a> <small>loads 14 MB</small>`;
}

/** Writes an agent as a picture with its name, return and links. */
export function agentCard(from: string, agent: Agent): string {
  const { document, name, score, picture } = agent;
  const image = picture &&
    `<img${classOf(agent)} src="${linkTo(from, picture)}" alt="${
      escapeMarkup(`An episode of ${name}`)
    }" loading="lazy">\n`;
  return `<li>${image ?? ""}<p>${anchor(from, document.address, name)}${
    score === undefined ? "" : `<br>return ${escapeMarkup(score)}`
  }</p>\n${playLink(from, agent)}</li>`;
}

/** The list of agents, below the zoo's README where it has one. */
export function zooPage(agents: readonly Agent[], readme?: Read): Page {
  const address = "zoo/index.html";
  const summary =
    "Trained agents, to be played, evaluated and trained further.";
  const cards = agents.map((it) => agentCard(address, it));
  return {
    address,
    title: "Zoo",
    summary,
    body: `${readme?.rendered.html ?? `<h1>Zoo</h1>\n<p>${summary}</p>`}
<ul class="cards">
${cards.join("\n") || "<li>There are none yet.</li>"}
</ul>`,
  };
}
