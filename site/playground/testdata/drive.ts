/// <reference lib="dom" />
/** Uses the page as a person does: see `drive`. Prints what came of it as JSON. */
import { Buffer } from "node:buffer";
import type { Page } from "npm:playwright-core@^1.65.1";
import { type OpenPage, withPage } from "../../../tests/testdata/with_page.ts";

const [site, name, ...args] = Deno.args;

const text = (page: Page, id: string) => page.locator(`#${id}`).textContent();

/** Waits until an element's text has a part. */
async function until(page: Page, id: string, part: string): Promise<void> {
  await page.locator(`#${id}`, { hasText: part }).waitFor({ timeout: 300_000 });
}

/** Sets the fields, and starts. */
async function start(
  page: Page,
  { env, algorithm, ...fields }: Record<string, string>,
): Promise<void> {
  await page.waitForSelector("#start:enabled");
  if (env !== undefined) await page.selectOption("#env", env);
  if (algorithm !== undefined) {
    await page.selectOption("#algorithm", algorithm);
  }
  await page.evaluate(
    () => document.getElementById("more")!.setAttribute("open", ""),
  );
  for (const [id, value] of Object.entries(fields)) {
    await page.fill(`#${id}`, value);
  }
  await page.click("#start");
}

/** Waits until the button says what it does next. */
const untilNext = (page: Page, action: string) => until(page, "start", action);

/** Clicks a button, and keeps what is downloaded. */
async function save(page: Page, id: string, folder: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`#${id}`),
  ]);
  const path = `${folder}/${file.suggestedFilename()}`;
  await file.saveAs(path);
  return path;
}

/** Opens a file and returns what the page says. */
async function open(
  page: Page,
  file: string | { name: string; mimeType: string; buffer: Buffer },
): Promise<string | null> {
  await page.setInputFiles("#file", file as string);
  await page.waitForSelector(
    "#play-error:not(:empty), #play-start:enabled",
  );
  return await text(page, "play-error") || await text(page, "play-state");
}

/** Counts the different pictures of the agent within a second. */
const changes = (page: Page) =>
  page.evaluate(async () => {
    const seen = new Set<string>();
    const canvas = document.querySelector<HTMLCanvasElement>(
      "#training-picture",
    )!;
    for (let i = 0; i < 20; i++) {
      seen.add(canvas.toDataURL());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return seen.size;
  });

/** Processor time of all programs that this one has started, in seconds. */
function processorSeconds(): number {
  const parents = new Map<number, { parent: number; ticks: number }>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      // The name of a program may have spaces.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const ticks = Number(fields[11]) + Number(fields[12]);
      parents.set(Number(name), { parent: Number(fields[1]), ticks });
    } catch {
      // It has ended.
    }
  }
  const isOurs = (id: number): boolean =>
    id !== 0 &&
    (parents.get(id)?.parent === Deno.pid ||
      isOurs(parents.get(id)?.parent ?? 0));
  let ticks = 0;
  for (const [id, it] of parents) if (isOurs(id)) ticks += it.ticks;
  return ticks / 100;
}

const SCENARIOS: Record<string, (open: OpenPage) => Promise<unknown>> = {
  /** Trains, saves, opens and plays the policy; returns the mean return. */
  async learn({ page, requested }) {
    const [folder, seed, algorithm] = args;
    await start(page, { seed, algorithm });
    await untilNext(page, "Train on");
    const said = await text(page, "train-state");
    const best = Number(await text(page, "best"));
    const drawn = await changes(page);
    const loaded = requested.some((it) => /ort/.test(it));
    const opened = await open(page, await save(page, "save-policy", folder));
    await page.selectOption("#copies", "16");
    await page.selectOption("#pace", "fast");
    await page.click("#play-start");
    await page.waitForFunction(() =>
      Number(document.getElementById("episodes")!.textContent) >= 16
    );
    await page.click("#play-pause");
    const meanReturn = Number(await text(page, "play-return"));
    return { said, best, drawn, loaded, opened, meanReturn };
  },

  /** Trains on to the run's length, and beyond it; returns the steps at each end. */
  async trainOn({ page }) {
    await start(page, JSON.parse(args[0]));
    const ends: (string | null)[] = [];
    for (let i = 0; i < 3; i++) {
      if (i > 0) await page.click("#start");
      if (i > 0) await untilNext(page, "Pause");
      await untilNext(page, "Train on");
      ends.push(await text(page, "step"));
    }
    await page.click("#reset");
    return { ends, after: await text(page, "start") };
  },

  /** Pauses, resumes and saves; returns the files, and steps at the pause. */
  async save({ page }) {
    const [folder, fields] = args;
    // As soon as there are steps.
    const clicked = page.evaluate(() =>
      new Promise<void>((resolve) => {
        const [save, start] = ["save-policy", "start"]
          .map((it) => document.getElementById(it) as HTMLButtonElement);
        new MutationObserver((_, observer) => {
          if (save.disabled) return;
          observer.disconnect();
          resolve(start.click());
        }).observe(save, { attributes: true });
      })
    );
    await start(page, JSON.parse(fields));
    await clicked;
    await untilNext(page, "Resume");
    // Messages before the pause have arrived, as they come in order.
    const paused = await text(page, "step");
    await new Promise((resolve) => setTimeout(resolve, 500));
    const later = await text(page, "step");
    // Saving does not resume.
    await save(page, "save-checkpoint", folder);
    const state = await text(page, "train-state");
    await page.click("#start");
    await untilNext(page, "Train on");
    return {
      paused,
      later,
      state,
      policy: await save(page, "save-policy", folder),
      checkpoint: await save(page, "save-checkpoint", folder),
    };
  },

  /** Saves at the end; returns the files. */
  async saveUnpaused({ page }) {
    const [folder, fields] = args;
    await start(page, JSON.parse(fields));
    await untilNext(page, "Train on");
    return {
      policy: await save(page, "save-policy", folder),
      checkpoint: await save(page, "save-checkpoint", folder),
    };
  },

  /** Returns actions of a policy in one environment. */
  async act({ page }) {
    const [policy, env, count] = args;
    const bytes = [...await Deno.readFile(policy)];
    return await page.evaluate(
      ({ bytes, env, count }) =>
        new Promise((resolve, reject) => {
          const worker = new Worker("player.js", { type: "module" });
          const actions: number[] = [];
          worker.onmessage = ({ data }) => {
            if (data.type === "error") reject(new Error(data.message));
            if (data.type === "opened") {
              const stage = { env, copies: 1, seed: 7, isPaced: false };
              worker.postMessage({ type: "play", ...stage });
            }
            if (data.type === "played") actions.push(...data.actions);
            if (actions.length < count) return;
            worker.terminate();
            resolve(actions.slice(0, count));
          };
          worker.postMessage({
            type: "open",
            name: "policy.onnx",
            bytes: Uint8Array.from(bytes),
          });
        }),
      { bytes, env, count: Number(count) },
    );
  },

  /** Returns what the page says to wrong settings. */
  async settings({ page }) {
    const said: (string | null)[] = [];
    for (const fields of JSON.parse(args[0])) {
      await start(page, fields);
      await page.waitForSelector("#train-error:not(:empty)");
      said.push(await text(page, "train-error"));
      await page.reload();
    }
    return said;
  },

  /** Returns what the page says to files, and to playing the last one. */
  async files({ page, requested }) {
    const [policy, other] = args;
    const before = requested.filter((it) => /ort|player/.test(it));
    const whole = await Deno.readFile(policy);
    const file = (name: string, bytes: Uint8Array) =>
      open(page, { name, mimeType: "", buffer: Buffer.from(bytes) });
    const changed = whole.slice();
    changed.fill(0xff, 200, 260);
    const said: Record<string, string | null> = {
      "no ONNX": await file("a.png", new TextEncoder().encode("PNG".repeat(9))),
      "empty": await file("empty.onnx", new Uint8Array()),
      "cut off": await file("cut.onnx", whole.subarray(0, whole.length - 9)),
      "damaged": await file("damaged.onnx", changed),
      "other inputs": await open(page, other),
      "300 MB": "",
      "policy": "",
      "other environment": "",
    };
    await page.evaluate(() => {
      const files = new DataTransfer();
      const large = new File([new Uint8Array(300 * 2 ** 20)], "large.onnx");
      files.items.add(large);
      const event = new DragEvent("drop", { dataTransfer: files });
      document.getElementById("drop")!.dispatchEvent(event);
    });
    await page.waitForSelector("#play-error:not(:empty)");
    said["300 MB"] = (await text(page, "play-error"))!;
    said.policy = (await open(page, policy))!;
    await page.selectOption("#play-env", "Pendulum-v1");
    await page.click("#play-start");
    await page.waitForSelector("#play-error:not(:empty)");
    said["other environment"] = (await text(page, "play-error"))!;
    return { before, said };
  },

  /** Measures how soon the page trains and answers, and what a pause takes. */
  async answers({ page }) {
    const { environments, seconds } = JSON.parse(args[0]);
    const opened = performance.now();
    await page.reload();
    await start(page, {});
    const hasStepped = () =>
      page.waitForFunction(() =>
        /^[1-9]/.test(document.getElementById("step")!.textContent!)
      );
    await hasStepped();
    const first_step_s = (performance.now() - opened) / 1000;
    const gap_ms: Record<string, number> = {}, rate: typeof gap_ms = {};
    for (const env of environments) {
      await page.reload();
      // Without evaluations it does not end at its goal.
      const long = {
        totalTimesteps: "1000000",
        further: "evaluationInterval: 0",
      };
      await start(page, { env, ...long });
      await hasStepped();
      gap_ms[env] = await page.evaluate(
        (milliseconds) =>
          new Promise<number>((resolve) => {
            const started = performance.now();
            let last = started, longest = 0;
            const timer = setInterval(() => {
              const now = performance.now();
              longest = Math.max(longest, now - last);
              last = now;
              if (now - started < milliseconds) return;
              clearInterval(timer);
              resolve(longest);
            }, 5);
          }),
        1000 * seconds,
      );
      rate[env] = Number((await text(page, "speed"))!.replaceAll(/\D/g, ""));
    }
    const busy = async () => {
      const before = processorSeconds(), from = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 3000));
      const took = processorSeconds() - before;
      return 1e5 * took / (performance.now() - from);
    };
    const training_percent = await busy();
    await page.click("#start");
    await untilNext(page, "Resume");
    const paused_percent = await busy();
    return { first_step_s, gap_ms, rate, training_percent, paused_percent };
  },

  /** Trains with the keyboard alone, on a narrow screen. */
  async keyboard({ page }) {
    await page.waitForSelector("#start:enabled");
    await page.evaluate("document.activeElement.blur()");
    const focused: string[] = [];
    const press = async (key: string) => {
      await page.keyboard.press(key);
      focused.push(await page.evaluate("document.activeElement.id"));
    };
    for (let i = 0; i < 5; i++) await press("Tab");
    // The settings, which were closed, and back to the button.
    await page.keyboard.press("Enter");
    for (let i = 0; i < 5; i++) await press("Tab");
    await page.focus("#start");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#save-policy:enabled");
    await page.keyboard.press("Space");
    await untilNext(page, "Resume");
    const unlabelled: string[] = await page.evaluate(() =>
      [...document.querySelectorAll("input, select, textarea")]
        .filter((it) => !(it as HTMLInputElement).labels?.length)
        .map(({ id }) => id)
    );
    const wide = await page.evaluate(
      "document.documentElement.scrollWidth - innerWidth",
    );
    const background = await page.evaluate(
      `getComputedStyle(document.getElementById("train-error")).color`,
    );
    return { focused, unlabelled, wide, background };
  },
};

const OPTIONS: Record<string, Parameters<typeof withPage>[2]> = {
  keyboard: {
    viewport: { width: 360, height: 640 },
    colorScheme: "dark",
    reducedMotion: "reduce",
  },
};

await withPage(site, async (open) => {
  const value = await SCENARIOS[name](open);
  const { complaints, requested } = open;
  console.log(JSON.stringify({ value, complaints, requested }));
}, { prefix: "/some/where/", ...OPTIONS[name] });
