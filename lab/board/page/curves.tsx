/// <reference lib="dom" />
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { ShownFolder } from "../answers.ts";
import type { View } from "./address.ts";
import { Chart } from "./chart.tsx";
import { count, statisticText } from "./format.ts";
import { byName, type Curve, CurveMaker, groupsOf, ordered } from "./groups.ts";
import { type Board, Choice, Menu } from "./parts.tsx";

/** Largest number of statistics at a time. */
const MOST_STATISTICS = 16;
/** Rows for few and for many runs. */
const FEW_ROWS = 2000, MANY_ROWS = 400, MANY_RUNS = 20;
/** Default statistics. */
export const USUAL: readonly string[] = [
  "rollout/return_mean",
  "eval/return_mean",
  "self_play/elo",
];

const X_LABELS: Readonly<Record<View["x"], string>> = {
  steps: "Environment steps",
  time: "Seconds of training",
  episodes: "Episodes",
};

/** Shows the curves of runs: a chart for each statistic and environment. */
export function Curves(
  { board, runs, usual = USUAL, isSingle = false }: {
    board: Board;
    runs: readonly ShownFolder[];
    /** Statistics if the view names none. */
    usual?: readonly string[];
    /** Draw single runs in any view. */
    isSingle?: boolean;
  },
): JSX.Element {
  const { client, go } = board;
  const view = isSingle
    ? { ...board.view, curves: "runs" as const }
    : board.view;
  const maker = useRef<CurveMaker>();
  const before = useRef(new Map<string, Curve[]>());
  maker.current ??= new CurveMaker();
  const available = ordered(runs.flatMap(({ statistics }) => statistics));
  // Each role of a game has a rating.
  const ratings = available.filter((it) => it.endsWith("/self_play/elo"));
  const chosen = (view.charts ?? [...new Set([...usual, ...ratings])])
    .slice(0, MOST_STATISTICS);
  const statistics = chosen.filter((it) => available.includes(it));
  const rows = runs.length > MANY_RUNS ? MANY_ROWS : FEW_ROWS;
  client.want({ runs, statistics, x: view.x, rows });

  const groups = groupsOf(runs, view);
  const environments = [...new Set(groups.map((it) => it.environment))]
    .sort(byName);
  /** Returns the curves of a chart, the same list while they do not change. */
  const curvesOf = (statistic: string, environment: string): Curve[] => {
    const shown = groups.filter((it) => it.environment === environment);
    const curves = shown.map((group, i) =>
      maker.current!.of(
        JSON.stringify([statistic, environment, i]),
        group.runs.flatMap(({ id }) =>
          client.line(id, statistic, view.x) ?? []
        ),
        { group, view, groups: groups.length },
      )
    ).filter(({ x }) => x.length > 0);
    const key = JSON.stringify([statistic, environment]);
    const last = before.current.get(key);
    const isSame = last?.length === curves.length &&
      curves.every((it, i) => it === last[i]);
    if (!isSame) before.current.set(key, curves);
    return before.current.get(key)!;
  };
  const charts = statistics.flatMap((statistic) =>
    environments.map((environment) => ({
      statistic,
      environment,
      curves: curvesOf(statistic, environment),
    }))
  ).filter(({ curves }) => curves.length > 0);

  return (
    <section aria-label="Curves">
      <div class="controls">
        <Menu
          name="Charts"
          all={available}
          chosen={chosen}
          textOf={statisticText}
          onToggle={(name, isOn) => {
            const rest = chosen.filter((it) => it !== name);
            go({ charts: isOn ? [...rest, name] : rest });
          }}
        />
        <Choice
          label="Over"
          options={{ steps: "Steps", time: "Time", episodes: "Episodes" }}
          value={view.x}
          onChange={(x) => go({ x, zoom: null })}
        />
        {!isSingle && (
          <>
            <Choice
              label="Draw"
              options={{
                mean: "Means of groups",
                iqm: "IQM of groups",
                runs: "Single runs",
              }}
              value={view.curves}
              onChange={(curves) => go({ curves })}
            />
            <label>
              <span>Groups by</span>
              <input
                placeholder="all but the seed"
                autocomplete="off"
                spellcheck={false}
                value={view.by.join(", ")}
                onChange={({ currentTarget: { value } }) =>
                  go({ by: value.split(/[\s,]+/).filter((it) => it !== "") })}
              />
            </label>
          </>
        )}
        <label>
          <span>Smoothing</span>
          <input
            type="range"
            min={0}
            max={0.3}
            step={0.01}
            value={view.smooth}
            aria-valuetext={`${count(100 * view.smooth)} percent of the points`}
            onInput={({ currentTarget: { value } }) =>
              go({ smooth: Number(value) }, "replace")}
          />
        </label>
        <label class="check">
          <span>Logarithmic</span>
          <input
            type="checkbox"
            checked={view.log}
            onChange={({ currentTarget: { checked } }) => go({ log: checked })}
          />
        </label>
        <button
          type="button"
          disabled={view.zoom === null}
          onClick={() => go({ zoom: null })}
        >
          Show all
        </button>
      </div>
      <div class="charts">
        {charts.map(({ statistic, environment, curves }) => (
          <Chart
            key={`${statistic} ${environment}`}
            title={statisticText(statistic) +
              (environments.length > 1 ? ` · ${environment}` : "")}
            curves={curves}
            xLabel={X_LABELS[view.x]}
            log={view.log}
            group={environment}
            zoom={view.zoom?.environment === environment
              ? [view.zoom.from, view.zoom.to]
              : null}
            onZoom={(zoom) => {
              const [from, to] = zoom ?? [];
              go({
                zoom: zoom && { environment, from: from!, to: to! },
              }, "replace");
            }}
          />
        ))}
      </div>
    </section>
  );
}
