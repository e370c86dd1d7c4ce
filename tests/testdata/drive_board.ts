/// <reference lib="dom" />
/** Uses the board as people do: see `SCENARIOS`. Prints what came of it as JSON. */
import type { BrowserContext, Page } from "npm:playwright-core@^1.65.1";
import { watchedPage, withBrowser } from "./with_page.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const MAIN = `${ROOT}cli/main.ts`;
const [scenario, folder] = Deno.args;

/** A board that runs, in a browser that knows it. */
interface Driven {
  context: BrowserContext;
  origin: string;
  /** Opens a view in a new page. */
  open(hash?: string): Promise<Page>;
  complaints: string[];
}

/** Starts a program, which has its own permissions. */
function start(args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-check", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

async function firstLine(child: Deno.ChildProcess): Promise<string> {
  let text = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n")) return text.split("\n")[0];
  }
  throw new Error(`no address: ${text}`);
}

async function withBoard(
  use: (driven: Driven) => Promise<unknown>,
  options: Parameters<typeof withBrowser>[1],
): Promise<unknown> {
  const board = start(
    ["--no-prompt", "-P=board", MAIN, "board", folder, "--port", "0"],
  );
  const complaints: string[] = [];
  let value: unknown;
  try {
    const address = await firstLine(board);
    const { origin } = new URL(address);
    await withBrowser(async (context) => {
      const first = await context.newPage();
      await first.goto(address);
      await first.close();
      const open = async (hash = "") => {
        const { page, complaints: own } = await watchedPage(context, origin);
        page.on("close", () => complaints.push(...own.splice(0)));
        page.setDefaultTimeout(60_000);
        await page.goto(`${origin}/${hash}`);
        return page;
      };
      value = await use({ context, origin, open, complaints });
      for (const page of context.pages()) await page.close();
    }, options);
  } finally {
    board.kill("SIGKILL");
    await board.status;
  }
  return { value, complaints };
}

const row = (page: Page, text: string) =>
  page.locator("tbody tr", { hasText: text });

/** Waits until a run has a state in the table or on its page. */
async function untilState(page: Page, state: string): Promise<void> {
  await page.locator(`.state[data-state="${state}"]`).first().waitFor();
}

/** Reads the rows of the first chart by its download. */
async function downloaded(page: Page): Promise<string[]> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download Policy loss as CSV" }).click(),
  ]);
  const text = await Deno.readTextFile(await file.path());
  return text.trim().split("\r\n").slice(1)
    .map((line) => line.split(",").slice(1, 3).join(","));
}

/** Reads the same rows of the file. */
function logged(dir: string): string[] {
  const [head, ...rows] = Deno.readTextFileSync(`${dir}/progress.csv`).trim()
    .split("\n").map((line) => line.split(","));
  const loss = head.indexOf("train/policy_loss");
  return rows.filter((it) => Number.isFinite(parseFloat(it[loss])))
    .map((it) => [it[0], Number(it[loss])].join(","));
}

/** With one environment training takes longer than looks are apart. */
const SETTINGS = ["numEnvs=1", "logInterval=2000", "evaluationInterval=0"]
  .flatMap((it) => ["--set", it]);

const train = (dir: string, ...args: string[]) =>
  start([
    ...["-A", MAIN, "train", "a2c", "--env", "CartPole-v1", "--out", dir],
    ...args,
    ...SETTINGS,
  ]);

/** Waits until the downloaded curve has exactly the rows of the file. */
async function untilEqual(page: Page, dir: string): Promise<boolean> {
  for (let i = 0; i < 40; i++) {
    const [seen, written] = [await downloaded(page), logged(dir)];
    if (seen.join("\n") === written.join("\n")) return seen.length > 5;
    await page.waitForTimeout(250);
  }
  throw new Error(
    `${(await downloaded(page)).join(" ")}\nbut ${logged(dir).join(" ")}`,
  );
}

const SCENARIOS: Record<string, (driven: Driven) => Promise<unknown>> = {
  /** A run from its start to its end; another one that is killed and resumed. */
  async training({ open }) {
    const page = await open();
    await page.getByText("No runs yet").waitFor();
    const whole = train(`${folder}/whole`, "--steps", "150000");
    await untilState(page, "running");
    await page.getByRole("link", { name: "whole" }).click();
    await page.getByRole("heading", { name: "Policy loss" }).waitFor();
    const { code } = await whole.status;
    await untilState(page, "ended");
    const isWhole = await untilEqual(page, `${folder}/whole`);

    const long = ["--steps", "350000", "--set", "checkpointInterval=20000"];
    const killed = train(`${folder}/killed`, ...long);
    await page.getByRole("link", { name: "All runs" }).click();
    await page.getByRole("link", { name: "killed" }).click();
    await page.getByRole("heading", { name: "Policy loss" }).waitFor();
    await page.locator(".progress", {
      hasText: /[5-9]\d,\d{3} of|\d{3},\d{3} of/,
    })
      .first().waitFor();
    killed.kill("SIGKILL");
    await killed.status;
    await untilState(page, "killed");
    const atKill = await untilEqual(page, `${folder}/killed`);
    const resumed = start([
      "-A",
      MAIN,
      "train",
      "--resume",
      `${folder}/killed`,
    ]);
    await untilState(page, "running");
    await resumed.status;
    await untilState(page, "ended");
    const isJoined = await untilEqual(page, `${folder}/killed`);
    const steps = (await downloaded(page)).map((it) =>
      Number(it.split(",")[0])
    );
    const isRising = steps.every((it, i) => i === 0 || it > steps[i - 1]);
    return { code, isWhole, atKill, isJoined, isRising, last: steps.at(-1) };
  },

  /** Several tabs that each get a row; one that was hidden gets it when it is seen. */
  async tabs({ open }) {
    const pages: Page[] = [];
    for (let i = 0; i < 4; i++) {
      const page = await open();
      await row(page, "run-0").waitFor();
      pages.push(page);
    }
    const [hidden] = pages;
    const hide = (isHidden: boolean) =>
      hidden.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", {
          get: () => hidden,
          configurable: true,
        });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await hide(true);
    await hidden.waitForTimeout(5000);
    let asked = 0;
    hidden.on("request", () => asked++);
    const path = `${folder}/run-0/progress.csv`;
    await Deno.writeTextFile(path, "777000,0.5,12\n", { append: true });
    await Promise.all(
      pages.slice(1).map((page) => row(page, "777,000").waitFor()),
    );
    await hidden.waitForTimeout(3000);
    const whileHidden = asked;
    await hide(false);
    await row(hidden, "777,000").waitFor();
    return { whileHidden };
  },

  /** Each view after a reload, and the way back. */
  async views({ open }) {
    const page = await open();
    await row(page, "run-0").waitFor();
    const found: Record<string, boolean> = {};
    const seen = async () => {
      await page.waitForTimeout(1500);
      return await page.evaluate(() => {
        const fields = [...document.querySelectorAll("input, select")]
          .map((it) => {
            const { type, checked, value } = it as HTMLInputElement;
            return type === "checkbox" ? checked : value;
          });
        return JSON.stringify([
          document.title,
          location.hash,
          fields,
          document.getElementById("board")!.innerText
            .replaceAll(/(Age|\d+ s|\d+:\d+ min)\b/g, ""),
        ]);
      });
    };
    const reloads = async (name: string) => {
      const before = await seen();
      await page.reload();
      const after = await seen();
      found[name] = before === after;
      if (before !== after) throw new Error(`${name}: ${before}\n${after}`);
    };
    await page.getByLabel("Filter").fill("learningRate=0.01");
    await page.getByLabel("Draw").selectOption("iqm");
    await page.getByLabel("Logarithmic").check();
    await page.getByRole("button", { name: "Return", exact: true }).click();
    await reloads("runs");
    const rows = await page.locator("tbody tr").count();
    await page.getByRole("link", { name: "run-2", exact: true }).click();
    await page.getByLabel("Compare with").selectOption({ label: "run-3" });
    await page.getByRole("heading", { name: "Differences" }).waitFor();
    await reloads("run");
    await page.goBack();
    await page.goBack();
    await page.getByLabel("Filter").waitFor();
    const filter = await page.getByLabel("Filter").inputValue();
    await page.getByLabel("Filter").fill("");
    const reports: string[] = [];
    for (const name of ["plan", "search"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, exact: true }).waitFor();
      const link = page.getByRole("link", { name: "Report" });
      reports.push((await link.getAttribute("href"))!);
      await reloads(name);
      await page.getByRole("link", { name: "All runs" }).click();
    }
    const texts = await page.evaluate(async (paths) => {
      const texts: string[] = [];
      for (const path of paths) texts.push(await (await fetch(path)).text());
      return texts;
    }, reports);
    const cells = texts.map((it) => it.includes("<h1>"));
    return { found, rows, filter, cells };
  },

  /** The keyboard alone, on a narrow screen in the dark. */
  async keyboard({ open }) {
    const page = await open();
    await row(page, "run-0").waitFor();
    const { keyboard } = page;
    /** Presses Tab until something has the focus. */
    const tabTo = async (selector: string) => {
      for (let i = 0; i < 80; i++) {
        await keyboard.press("Tab");
        const isThere = await page.evaluate(
          (it) => document.activeElement!.matches(it),
          selector,
        );
        if (isThere) return;
      }
      throw new Error(`no way to ${selector}`);
    };
    await tabTo("input[type=search]");
    await keyboard.type("run-2");
    await tabTo(".plot");
    await keyboard.press("ArrowRight");
    await page.getByText(/^At /).first().waitFor();
    const at = await page.locator("figure .at").first().textContent();
    await keyboard.press("+");
    await page.waitForFunction(() => location.hash.includes("zoom="));
    await keyboard.press("0");
    await page.waitForFunction(() => !location.hash.includes("zoom="));
    await tabTo(".menu > summary");
    await keyboard.press("Space");
    await tabTo(".choices input");
    await keyboard.press("Space");
    await keyboard.press("Escape");
    await tabTo("button.sort");
    await keyboard.press("Enter");
    const sort = await page.evaluate(() => location.hash);
    await tabTo("td a");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Commands" }).waitFor();
    await page.locator(".state").first().waitFor();
    const views = await page.evaluate(() => {
      const unlabelled = [...document.querySelectorAll("input, select")]
        .filter((it) => !(it as HTMLInputElement).labels?.length).length;
      const wide = document.documentElement.scrollWidth - innerWidth;
      const ground = getComputedStyle(document.body).backgroundColor;
      return { unlabelled, wide, ground };
    });
    return { at, sort, title: await page.title(), ...views };
  },

  /** Texts of somebody else's run. */
  async hostile({ open, context }) {
    const page = await open();
    let dialogs = 0;
    context.on("dialog", (it) => {
      dialogs++;
      it.dismiss();
    });
    await page.locator("tbody tr").first().waitFor();
    const name = await page.locator("td a").first().textContent();
    await page.locator("td a").first().click();
    await page.getByRole("heading", { name: "Commands" }).waitFor();
    const elements = await page.evaluate(() => ({
      scripts: document.scripts.length,
      images: document.images.length,
      styles: document.querySelectorAll("style, iframe, [onerror]").length,
      isRun: "pwned" in globalThis,
      hasText: document.body.innerText.includes("<img src=x onerror="),
    }));
    return { name, dialogs, ...elements };
  },
};

const OPTIONS: Record<string, Parameters<typeof withBrowser>[1]> = {
  keyboard: {
    viewport: { width: 360, height: 740 },
    colorScheme: "dark",
    reducedMotion: "reduce",
  },
};

console.log(
  JSON.stringify(await withBoard(SCENARIOS[scenario], OPTIONS[scenario])),
);
