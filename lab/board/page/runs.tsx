/// <reference lib="dom" />
import type { ComponentChildren, JSX } from "preact";
import type { ShownFolder } from "../answers.ts";
import { Curves } from "./curves.tsx";
import {
  differing,
  type Filtered,
  flatten,
  matcherOf,
  sortBy,
  valueText,
} from "./filters.ts";
import { count, duration, NONE, number } from "./format.ts";
import { byName, nameOf } from "./groups.ts";
import { type Board, Menu, Problems, Progress, State } from "./parts.tsx";

/** Largest number of settings that are columns by default; others can be chosen. */
const MOST_DIFFERING = 8;

/** Run with the values to filter and sort by. */
interface RunRow extends Filtered {
  run: ShownFolder;
}

const rows = new WeakMap<ShownFolder, RunRow>();

/** Returns the values that a run is filtered by. */
function rowOf(run: ShownFolder): RunRow {
  const known = rows.get(run);
  if (known !== undefined) return known;
  const { name, root, state, algorithm, environment, seed } = run;
  const row = {
    run,
    text: [name, root, state, algorithm, environment].join(" "),
    settings: {
      ...flatten(run.settings),
      ...{ state, algorithm, env: environment },
      ...seed !== null && { seed },
    },
  };
  rows.set(run, row);
  return row;
}

/** Column of the table. */
interface Column {
  id: string;
  title: string;
  /** Value to sort by. */
  value(row: RunRow): unknown;
  /** Shown content, if it is not the value. */
  show?(row: RunRow): ComponentChildren;
  isNumber?: boolean;
}

/** Lists the default columns. */
function usualColumns({ link }: Board): Column[] {
  const figure = (
    id: string,
    title: string,
    get: (run: ShownFolder) => number | null | undefined,
    text: (value: number | null | undefined) => string = number,
  ): Column => ({
    id,
    title,
    isNumber: true,
    value: ({ run }) => get(run),
    show: ({ run }) => text(get(run)),
  });
  return [
    {
      id: "state",
      title: "State",
      value: ({ run }) => run.state,
      show: ({ run }) => <State folder={run} />,
    },
    {
      id: "name",
      title: "Run",
      value: ({ run }) => nameOf(run),
      show: ({ run }) => (
        <a
          class="name"
          href={link({ page: "run", id: run.id })}
          title={`${run.root}/${run.name}`}
        >
          {nameOf(run)}
        </a>
      ),
    },
    { id: "algorithm", title: "Algorithm", value: ({ run }) => run.algorithm },
    { id: "env", title: "Environment", value: ({ run }) => run.environment },
    figure("seed", "Seed", ({ seed }) => seed, (it) => String(it ?? NONE)),
    {
      ...figure("steps", "Steps", ({ step }) => step),
      show: ({ run }) => <Progress value={run.step} total={run.totalSteps} />,
    },
    figure("return", "Return", (run) => run.return),
    figure("last", "Last evaluation", ({ last }) => last?.value),
    figure("best", "Best evaluation", ({ best }) => best?.value),
    figure("speed", "Steps a second", (run) => run.stepsPerSecond, count),
    figure("left", "Time left", secondsLeft, duration),
    figure("age", "Age", ageOf, duration),
  ];
}

function ageOf({ begun }: ShownFolder): number | null {
  return begun === null ? null : (Date.now() - begun) / 1000;
}

/** Estimates the remaining seconds of a run. */
export function secondsLeft(
  { state, step, totalSteps, stepsPerSecond }: ShownFolder,
): number | null {
  return state === "running" && totalSteps !== null && stepsPerSecond
    ? Math.max(0, totalSteps - step) / stepsPerSecond
    : null;
}

function settingColumn(key: string): Column {
  return {
    id: `.${key}`,
    title: key,
    value: ({ settings }) => settings[key],
    show: ({ settings: { [key]: value } }) =>
      value === undefined ? NONE : valueText(value),
  };
}

/** Shows the table of runs. */
export function RunTable(
  { board, runs }: { board: Board; runs: readonly ShownFolder[] },
): JSX.Element {
  const { go, view: { sort, columns, hidden } } = board;
  const allRows = runs.map(rowOf), usual = usualColumns(board);
  const known = new Set(usual.map(({ id }) => id));
  const varied = differing(allRows.map(({ settings }) => settings))
    .filter((key) => !known.has(key));
  const others = [...new Set(allRows.flatMap((it) => Object.keys(it.settings)))]
    .filter((key) => !known.has(key) && !varied.includes(key)).sort();
  const place = usual.findIndex(({ id }) => id === "best") + 1;
  const possible = [
    ...usual.slice(0, place),
    ...varied.map(settingColumn),
    ...usual.slice(place),
    ...others.map(settingColumn),
  ];
  const isThere = ({ value }: Column) =>
    allRows.some((row) => (value(row) ?? "") !== "");
  const byItself = new Set([
    // Columns without any value are folded.
    ...usual.filter((it, i) => i < 2 || isThere(it)).map(({ id }) => id),
    ...varied.slice(0, MOST_DIFFERING).map((key) => `.${key}`),
  ]);
  const shown = possible.filter(({ id }) =>
    byItself.has(id) ? !hidden.includes(id) : columns.includes(id)
  );
  const id = sort.replace(/^-/, "");
  const by = possible.find((it) => it.id === id) ?? usual[1];
  const sorted = sortBy(allRows, by.value, { descending: sort !== id });
  const titles = new Map(possible.map((it) => [it.id, it.title]));
  const toggle = (name: string, isOn: boolean) => {
    const without = (names: readonly string[]) =>
      names.filter((it) => it !== name);
    go(
      byItself.has(name)
        ? { hidden: isOn ? without(hidden) : [...hidden, name] }
        : { columns: isOn ? [...columns, name] : without(columns) },
    );
  };
  return (
    <section aria-label="Runs">
      <div class="controls">
        <Menu
          name="Columns"
          all={possible.map(({ id }) => id)}
          chosen={shown.map(({ id }) => id)}
          textOf={(it) => titles.get(it) ?? it}
          onToggle={toggle}
        />
      </div>
      <div
        class="card scroll"
        tabIndex={0}
        role="region"
        aria-label="Runs"
      >
        <table>
          <caption class="unseen">Runs</caption>
          <thead>
            <tr>
              {shown.map(({ id, title, isNumber }) => (
                <th
                  key={id}
                  scope="col"
                  class={isNumber ? "number" : undefined}
                  aria-sort={sort === id
                    ? "ascending"
                    : sort === `-${id}`
                    ? "descending"
                    : undefined}
                >
                  <button
                    type="button"
                    class="sort"
                    onClick={() => go({ sort: sort === id ? `-${id}` : id })}
                  >
                    {title}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row) => (
              <tr key={row.run.id}>
                {shown.map(({ id, value, show, isNumber }) => (
                  <td key={id} class={isNumber ? "number" : undefined}>
                    {show?.(row) ?? (String(value(row) || NONE))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Returns the runs of an experiment or a search. */
export function runsIn(board: Board, parent: string): ShownFolder[] {
  return [...board.client.folders.values()].filter((it) =>
    it.parent === parent
  );
}

/** Shows the progress of an experiment's or a search's runs. */
export function GroupProgress(
  { runs }: { runs: readonly ShownFolder[] },
): JSX.Element {
  const states = Map.groupBy(runs, ({ state }) => state);
  const parts = [...states].filter(([state]) => state !== "ended")
    .map(([state, members]) => `, ${count(members.length)} ${state}`);
  const ended = states.get("ended")?.length ?? 0;
  return (
    <Progress
      value={ended}
      total={runs.length}
      what={` runs ended${parts.join("")}`}
    />
  );
}

/** Shows the experiments and searches. */
function Groups({ board }: { board: Board }): JSX.Element {
  const groups = [...board.client.folders.values()]
    .filter(({ kind }) => kind === "experiment" || kind === "search")
    .sort((a, b) => byName(nameOf(a), nameOf(b)));
  const times = Map.groupBy(groups, nameOf);
  return (
    <div class="cards">
      {groups.map((group) => (
        <div class="card" key={group.id}>
          <a class="name" href={board.link({ page: "group", id: group.id })}>
            {times.get(nameOf(group))!.length > 1
              ? `${group.root}/${group.name}`
              : nameOf(group)}
          </a>
          <span>{group.kind === "search" ? "Search" : "Experiment"}</span>
          <GroupProgress runs={runsIn(board, group.id)} />
          <State folder={group} />
        </div>
      ))}
    </div>
  );
}

/** Shows all runs: curves and table, both filtered. */
export function RunsPage({ board }: { board: Board }): JSX.Element {
  const { client, view, go } = board;
  const allRuns = [...client.folders.values()]
    .filter(({ kind }) => kind === "run" || kind === "shared");
  const matches = matcherOf(view.filter);
  const runs = allRuns.filter((run) => matches(rowOf(run)))
    .sort((a, b) => a.id < b.id ? -1 : 1);
  const summary = !client.isRead
    ? "Reading the folders"
    : allRuns.length === 0
    ? "No runs yet: they appear here when they begin"
    : runs.length === allRuns.length
    ? `${count(allRuns.length)} runs`
    : `${count(runs.length)} of ${count(allRuns.length)} runs`;
  return (
    <>
      <h1 class="unseen">Runs</h1>
      <Problems lines={client.notices} />
      <Groups board={board} />
      <div class="controls" role="search">
        <label class="wide">
          <span>Filter</span>
          <input
            type="search"
            placeholder="words, gamma=0.99, env=Cart*, numEnvs>=8"
            autocomplete="off"
            spellcheck={false}
            value={view.filter}
            onInput={({ currentTarget: { value } }) =>
              go({ filter: value }, "replace")}
          />
        </label>
        <p role="status">{summary}</p>
      </div>
      <Curves board={board} runs={runs} />
      <RunTable board={board} runs={runs} />
    </>
  );
}
