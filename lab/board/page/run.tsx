/// <reference lib="dom" />
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FolderFile, ShownFolder } from "../answers.ts";
import { askFiles } from "./client.ts";
import { Curves } from "./curves.tsx";
import { flatten, valueText } from "./filters.ts";
import { bytes, count, duration, NONE, number } from "./format.ts";
import { byName, nameOf, ordered } from "./groups.ts";
import {
  type Board,
  Choice,
  Copy,
  Problems,
  Progress,
  Section,
  State,
  Table,
} from "./parts.tsx";
import { GroupProgress, runsIn, RunTable, secondsLeft } from "./runs.tsx";

/** Number of charts of a run by default. */
const CHARTS = 8;
const PICTURE =
  /^(?:(?:videos|plots)\/.*\.(?:gif|png|svg)|play[\w.-]*\.(?:gif|mp4)|[\w-]+\.svg)$/;
const REPORT = /^(report|search)\.html$/;

/** Fetches the files of a folder, again when it changes. */
function useFiles(folder: ShownFolder): FolderFile[] {
  const [files, setFiles] = useState<FolderFile[]>([]);
  useEffect(() => {
    let isWanted = true;
    // The list of all folders tells if a folder is gone.
    askFiles(folder.id).then((it) => isWanted && setFiles(it), () => {});
    return () => isWanted = false;
  }, [folder]);
  return files;
}

/** Returns the address of a file, which changes whenever it is written. */
function addressOf({ id }: ShownFolder, { path, changed }: FolderFile): string {
  return `/api/runs/${id}/${path}?changed=${changed}`;
}

function Report(
  { folder, files }: { folder: ShownFolder; files: readonly FolderFile[] },
): JSX.Element | null {
  const file = files.find(({ path }) => REPORT.test(path));
  return file === undefined
    ? null
    : (
      <a href={addressOf(folder, file)} target="_blank" rel="noopener">
        Report
      </a>
    );
}

/** Shows an experiment or a search: progress, report and runs. */
export function GroupPage(
  { board, folder }: { board: Board; folder: ShownFolder },
): JSX.Element {
  const files = useFiles(folder), runs = runsIn(board, folder.id);
  return (
    <>
      <h1>{nameOf(folder)}</h1>
      <p class="row">
        <State folder={folder} />
        <GroupProgress runs={runs} />
        <Report folder={folder} files={files} />
      </p>
      <Problems lines={folder.problems} />
      <Curves board={board} runs={runs} />
      <RunTable board={board} runs={runs} />
    </>
  );
}

/** Shows a run. */
export function RunPage(
  { board, run }: { board: Board; run: ShownFolder },
): JSX.Element {
  const { client: { folders }, view, go } = board;
  const files = useFiles(run);
  const others = [...folders.values()]
    .filter(({ id, kind }) => id !== run.id && kind === run.kind)
    .sort((a, b) => byName(nameOf(a), nameOf(b)));
  const other = others.find(({ id }) => id === view.other);
  const statistics = run.statistics.filter((it) => !it.startsWith("time/"));
  return (
    <>
      <h1>{nameOf(run)}</h1>
      <p class="row">
        <State folder={run} />
        <Progress value={run.step} total={run.totalSteps} />
        <Report folder={run} files={files} />
      </p>
      <Problems
        lines={[
          // A planned end is not a problem.
          run.state === "ended" ? "" : run.reason ?? "",
          ...run.problems,
        ]}
      />
      <Facts run={run} />
      <div class="controls">
        <Choice
          label="Compare with"
          wide
          options={{
            "": "none",
            ...Object.fromEntries(others.map((it) => [it.id, nameOf(it)])),
          }}
          value={other?.id ?? ""}
          onChange={(other) => go({ other })}
        />
      </div>
      <Curves
        board={board}
        runs={other === undefined ? [run] : [run, other]}
        usual={ordered(statistics).slice(0, CHARTS)}
        isSingle
      />
      {other && <Differences run={run} other={other} />}
      <Pictures run={run} files={files} />
      <Settings run={run} />
      <Commands run={run} />
      <FolderSizes run={run} files={files} />
    </>
  );
}

function Facts({ run }: { run: ShownFolder }): JSX.Element {
  const evaluation = (point: ShownFolder["last"]) =>
    point === null
      ? NONE
      : `${number(point.value)} ± ${number(point.std)} at ${count(point.step)}`;
  const { begun } = run;
  const facts = {
    "Algorithm": run.algorithm || NONE,
    "Environment": run.environment || NONE,
    "Seed": String(run.seed ?? NONE),
    "Return of 100 episodes": number(run.return),
    "Last evaluation": evaluation(run.last),
    "Best evaluation": evaluation(run.best),
    "Steps a second": count(run.stepsPerSecond),
    "Training time": duration(run.seconds),
    "Time left": duration(secondsLeft(run)),
    "Begun": begun === null ? NONE : new Date(begun).toLocaleString("en-GB"),
  };
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function Differences(
  { run, other }: { run: ShownFolder; other: ShownFolder },
): JSX.Element {
  const [ours, theirs] = [run, other].map((it) => flatten(it.settings));
  const text = (value: unknown) =>
    value === undefined ? NONE : valueText(value);
  const rows = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
    .sort().map((key) => [key, text(ours[key]), text(theirs[key])])
    .filter(([, left, right]) => left !== right);
  return (
    <Section title="Differences">
      {rows.length === 0 ? <p>Both have the same settings.</p> : (
        <Table
          caption="Settings that differ between the runs"
          head={["Setting", nameOf(run), nameOf(other)]}
          rows={rows}
        />
      )}
    </Section>
  );
}

function titleOf(path: string): string {
  const step = /^videos\/step-(\d{1,15})\.gif$/.exec(path)?.[1];
  if (step !== undefined) return `Agent after ${count(Number(step))} steps`;
  return path === "videos/best.gif" ? "Best agent" : path;
}

/** Shows videos and plots: animations if motion is wanted, otherwise links. */
function Pictures(
  { run, files }: { run: ShownFolder; files: readonly FolderFile[] },
): JSX.Element | null {
  const pictures = files.filter(({ path }) => PICTURE.test(path));
  if (pictures.length === 0) return null;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return (
    <Section title="Videos and plots">
      <div class="videos">
        {pictures.map((file) => {
          const address = addressOf(run, file), title = titleOf(file.path);
          const isShown = /\.(png|svg)$/.test(file.path) ||
            file.path.endsWith(".gif") && !isStill;
          return (
            <figure class="card" key={file.path}>
              {isShown && <img src={address} alt={title} loading="lazy" />}
              <a href={address} target="_blank" rel="noopener">
                {title} ({bytes(file.bytes)})
              </a>
            </figure>
          );
        })}
      </div>
    </Section>
  );
}

/** Shows the settings; unimportant ones are folded. */
function Settings({ run }: { run: ShownFolder }): JSX.Element {
  const entries = Object.entries(flatten(run.settings));
  const isSaying = (value: unknown) =>
    value !== null && !(Array.isArray(value) && value.length === 0);
  const text = entries.map(([key, value]) => `${key}: ${valueText(value)}`)
    .join("\n");
  return (
    <Section title="Settings">
      <details id="config">
        <summary>
          {entries.length} settings,{" "}
          {entries.filter(([, it]) => isSaying(it)).length} with a value
        </summary>
        <Copy text={text} what="the settings" />
        <pre>{text}</pre>
      </details>
    </Section>
  );
}

/** Quotes a path as a word of a shell. */
function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Makes command lines for the next steps of a user. */
export function commandsOf(run: ShownFolder): Record<string, string> {
  const { root, name, state, totalSteps, kind } = run;
  const folder = name === "" ? root : `${root.replace(/\/+$/, "")}/${name}`;
  // Characters that would control a terminal.
  if (/[\p{Cc}\p{Cf}]/u.test(folder)) return {};
  const path = shellWord(folder.startsWith("-") ? `./${folder}` : folder);
  const task = (words: string) => `deno task ${words}`;
  return {
    ...kind === "run" && state !== "running" && state !== "ended" &&
      { resume: task(`train --resume ${path}`) },
    ...kind === "run" && state === "ended" && totalSteps !== null &&
      { prolong: task(`train --resume ${path} --steps ${2 * totalSteps}`) },
    evaluate: task(`eval ${path}`),
    play: task(`play ${path}`),
    export: task(`export ${path}`),
    plot: task(`plot ${path}`),
  };
}

function Commands({ run }: { run: ShownFolder }): JSX.Element {
  return (
    <Section title="Commands">
      <p class="soft">The board starts nothing: these are for a terminal.</p>
      <dl class="commands">
        {Object.entries(commandsOf(run)).map(([name, command]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code class="card">{command}</code>
              <Copy text={command} what={`the command: ${name}`} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function FolderSizes(
  { run, files }: { run: ShownFolder; files: readonly FolderFile[] },
): JSX.Element {
  const sizes = new Map<string, number>();
  for (const { path, bytes } of files) {
    const part = path.split("/")[0];
    sizes.set(part, (sizes.get(part) ?? 0) + bytes);
  }
  const total = files.reduce((sum, it) => sum + it.bytes, 0);
  const checkpoints = files
    .filter(({ path }) => /^checkpoints\/.*\.safetensors$/.test(path));
  return (
    <Section title="Folder">
      <p>
        {bytes(total)} on disk, {count(checkpoints.length)} checkpoints,{" "}
        {count(run.resumes)} resumes after a crash
      </p>
      <Table
        caption="Sizes of files"
        head={["File", "Size"]}
        rows={[...sizes].map(([name, size]) => [name, bytes(size)])}
      />
    </Section>
  );
}
