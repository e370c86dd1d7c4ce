import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decode } from "modern-gif";
import { RunFolder } from "../folder/run_folder.ts";
import { capture } from "../../../cli/testdata/capture.ts";
import { readVideos } from "./recorder.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-recorder-" });
const small = ["--backend=wasm", "--steps=400", "--set=numEnvs=4", "--quiet"];
const EVALUATIONS = "--set=evaluationEpisodes=2";

Deno.test("a run with --every has videos in its report, and trains as one without", async () => {
  const [filmed, plain] = [`${dir}/filmed`, `${dir}/plain`];
  const train = ["train", ...small, EVALUATIONS, "--out"];
  const { code, err } = await capture(...train, filmed, "--every", "200");
  assertEquals(code, 0, err);
  assertEquals((await capture(...train, plain)).code, 0);
  const names = [...Deno.readDirSync(`${filmed}/videos`)].map((it) => it.name);
  assertEquals(names.sort(), [
    "best.gif",
    "step-000000000.gif",
    "step-000000200.gif",
    "step-000000400.gif",
  ]);
  const { width, height, frames } = decode(
    Deno.readFileSync(`${filmed}/videos/step-000000000.gif`)
      .buffer as ArrayBuffer,
  );
  assertEquals([width, height], [320, 213]);
  assert(frames.length > 1);
  const report = await Deno.readTextFile(`${filmed}/report.html`);
  assertEquals(report.match(/src="data:image\/gif/g)?.length, 4);
  for (const title of ["Best agent", "Agent after 200 steps"]) {
    assertStringIncludes(report, `<figcaption>${title}</figcaption>`);
  }
  assertStringIncludes(report, "--every 200");
  const episodes = (run: string) => Deno.readTextFile(`${run}/episodes.csv`);
  assertEquals(await episodes(filmed), await episodes(plain));
  assert(!(await Deno.readTextFile(`${plain}/report.html`)).includes("src="));
});

Deno.test("of many videos some are shown, from the first to the last", async () => {
  const folder = new RunFolder(`${dir}/many`);
  await Deno.mkdir(folder.videosDir, { recursive: true });
  for (let step = 0; step < 100; step++) {
    const name = `step-${String(step).padStart(9, "0")}.gif`;
    await Deno.writeFile(`${folder.videosDir}/${name}`, Uint8Array.of(step));
  }
  await Deno.writeTextFile(`${folder.videosDir}/step-000000003.gif.tmp`, "");
  const videos = readVideos(folder);
  assertEquals(videos.length, 9);
  assertEquals(videos[0].title, "Agent after 0 steps");
  assertEquals(videos[8].title, "Agent after 99 steps");
  assertEquals(readVideos(new RunFolder(`${dir}/none`)), []);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
