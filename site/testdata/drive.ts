/// <reference lib="dom" />
/** Uses the site as people do: see `SCENARIOS`. Prints what came of it as JSON. */
import type { Page } from "npm:playwright-core@^1.65.1";
import {
  type OpenPage,
  withBrowser,
  withPage,
} from "../../tests/testdata/with_page.ts";

const [site, name, ...args] = Deno.args;
const PREFIX = "/bellman/";

/** Opens a page of the site. */
const open = (page: Page, address: string) =>
  page.goto(new URL(address, new URL(PREFIX, page.url())).href);

/** Waits until a figure of the playground is at least a number. */
const untilAtLeast = (page: Page, id: string, least: number) =>
  page.waitForFunction(
    ([id, least]) =>
      parseInt(
        document.getElementById(String(id))!.textContent!.replaceAll(",", ""),
      ) >= Number(least),
    [id, least],
    { timeout: 300_000 },
  );

/** Waits until all of an element is in the window. */
const untilSeen = (page: Page, id: string) =>
  page.waitForFunction((id) => {
    const { top, bottom } = document.getElementById(id)!
      .getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }, id);

/** Types into the search by the keyboard; returns what it finds first. */
async function search(page: Page, query: string): Promise<string> {
  await page.keyboard.press("/");
  await page.keyboard.press("Control+A");
  await page.keyboard.type(query);
  const first = page.locator("#site-found li").first();
  await page.waitForFunction(
    (query) =>
      document.querySelector<HTMLInputElement>("#site-search")!.value === query,
    query,
  );
  await first.waitFor();
  await page.waitForTimeout(200);
  return first.locator("a").evaluate((it) => it.firstChild!.textContent!);
}

/** Counts the different pictures of the front page's agent within a second. */
const differentPictures = (page: Page) =>
  page.evaluate(async () => {
    const canvas = document.querySelector<HTMLCanvasElement>("#live-picture")!;
    const seen = new Set<string>();
    for (let i = 0; i < 20; i++) {
      seen.add(canvas.toDataURL());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return seen.size;
  });

const SCENARIOS: Record<string, (open: OpenPage) => Promise<unknown>> = {
  /** Opens pages on a narrow screen; returns those that are wider. */
  async pages({ page }) {
    const wide: string[] = [];
    for (const address of JSON.parse(args[0])) {
      const response = await open(page, address);
      if (response?.status() !== 200) wide.push(`${address} is not there`);
      const more = await page.evaluate(
        "document.documentElement.scrollWidth - innerWidth",
      );
      if (Number(more) > 0) wide.push(`${address} by ${more} pixels`);
    }
    return wide;
  },

  /** Searches with the keyboard alone; returns what was found and where it led. */
  async search({ page, requested }) {
    const index = () => requested.includes("search.json");
    await open(page, "guides/search.html");
    const before = index();
    const alias = await search(page, "ent_coef");
    const first = await search(page, "resume killed run");
    const after = index();
    await page.keyboard.press("ArrowDown");
    const second = await page.locator("[aria-selected=true] small")
      .textContent();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#/);
    const { pathname, hash } = new URL(page.url());
    return { before, after, alias, first, second, led: pathname + hash };
  },

  /** Goes from the front page to an agent that learns, by two clicks. */
  async learn({ page }) {
    await page.getByRole("link", { name: "Train one in this browser" }).click();
    await page.click("#start:enabled");
    await untilAtLeast(page, "step", 1);
    return await page.locator("#train-state").textContent();
  },

  /** Plays the policy that an address names, until episodes have ended. */
  async policy({ page }) {
    const [policy, episodes] = args;
    const query = encodeURIComponent(policy);
    await open(page, `playground/index.html?policy=${query}`);
    await untilAtLeast(page, "play-step", 1);
    await untilSeen(page, "playing-picture");
    await page.selectOption("#copies", "16");
    await page.selectOption("#pace", "fast");
    await page.click("#play-start");
    await untilAtLeast(page, "episodes", Number(episodes));
    const text = (id: string) => page.locator(`#${id}`).textContent();
    return {
      state: await text("play-state"),
      meanReturn: Number(await text("play-return")),
    };
  },

  /** Returns what the playground says of policies that it cannot load. */
  async noPolicy({ page }) {
    const said: (string | null)[] = [];
    for (const policy of args) {
      const query = encodeURIComponent(policy);
      await open(page, `playground/index.html?policy=${query}`);
      const error = page.locator("#play-error:not(:empty)");
      await error.waitFor();
      said.push(await error.textContent());
    }
    return said;
  },

  /** Watches the agent of the front page until it has learned, and pauses it. */
  async live({ page, requested }) {
    await page.locator("#live-state", { hasText: "Learned in" })
      .waitFor({ timeout: 120_000 });
    const state = await page.locator("#live-state").textContent();
    const shown = await page.locator("#live-return").textContent();
    const pictures = await differentPictures(page);
    await page.click("#live-pause");
    await page.waitForTimeout(200);
    if (await differentPictures(page) > 1) throw new Error("it moves on");
    await page.click("#live-again");
    await page.locator("#live-state", { hasText: "is learning" }).waitFor();
    return { state, shown, pictures, requested: [...new Set(requested)] };
  },

  /** Opens the front page where motion is unwanted, and asks for it. */
  async still({ page, requested }) {
    await page.waitForSelector("#live-pause:visible");
    const said = await page.locator("#live-state").textContent();
    await page.waitForTimeout(500);
    const before = requested.filter((it) => /trainer|wasm/.test(it));
    await page.click("#live-pause");
    const learning = page.locator("#live-state", { hasText: "is learning" });
    await learning.waitFor();
    return { before, said, after: await learning.textContent() };
  },

  /** Looks at the front page without scripts. */
  async frontPlain({ page }) {
    return {
      picture: await page.locator("#live img").isVisible(),
      buttons: await page.locator("#live button:visible").count(),
    };
  },

  /** Reads pages without scripts. */
  async plain({ page }) {
    await open(page, "guides/search.html");
    return {
      title: await page.locator("h1").textContent(),
      search: await page.locator("search").isVisible(),
    };
  },
};

const NARROW = { viewport: { width: 360, height: 640 } };
const OPTIONS: Record<string, Parameters<typeof withPage>[2]> = {
  pages: { ...NARROW, colorScheme: "dark" },
  plain: { javaScriptEnabled: false },
  frontPlain: { javaScriptEnabled: false },
  still: { reducedMotion: "reduce" },
};

/** Opens pages from the disk; returns what they say. */
async function fromDisk(): Promise<void> {
  await withBrowser(async (context) => {
    const page = await context.newPage();
    await page.goto(`file://${site}/guides/search.html`);
    await page.keyboard.press("/");
    await page.keyboard.type("a");
    const said = page.locator("#site-state:not(:empty)");
    await said.waitFor();
    const search = await said.textContent();
    const link = page.getByRole("link", { name: "Playground" });
    const style = await page.locator(".top")
      .evaluate((it) => getComputedStyle(it).position);
    await link.click();
    const playground = await page.locator("#train-state").textContent();
    console.log(JSON.stringify({ value: { search, style, playground } }));
  });
}

if (name === "fromDisk") await fromDisk();
else {
  await withPage(site, async (open) => {
    const value = await SCENARIOS[name](open);
    console.log(JSON.stringify({ value, complaints: open.complaints }));
  }, { prefix: PREFIX, ...OPTIONS[name] });
}
