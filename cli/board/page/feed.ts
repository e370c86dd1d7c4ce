/// <reference lib="dom" />
import {
  BROWSER,
  Hub,
  type HubMessage,
  type TabMessage,
  type Wish,
} from "./data/hub.ts";

/** What a tab hears, and how it says what it shows. */
export interface Feed {
  /** Asks for the curves that are shown now. */
  want(wishes: readonly Wish[]): void;
}

/**
 * Joins the one stream of all tabs. While a tab is hidden it asks for nothing, and
 * where all are, there is no stream.
 *
 * @param hear Takes each message.
 */
export function openFeed(hear: (message: HubMessage) => void): Feed {
  const tell = connect(hear);
  let last = "", wishes: readonly Wish[] = [];
  const say = () => {
    const wanted = document.hidden ? null : wishes;
    const text = JSON.stringify(wanted);
    if (text === last) return;
    last = text;
    tell(wanted);
  };
  document.addEventListener("visibilitychange", say);
  say();
  return {
    want(wanted) {
      wishes = wanted;
      say();
    },
  };
}

/** Connects to the shared worker, or where there is none to a hub of the tab. */
function connect(
  hear: (message: HubMessage) => void,
): (wishes: readonly Wish[] | null) => void {
  if (typeof SharedWorker === "undefined" || !navigator.locks) {
    const { want } = new Hub(BROWSER).add(hear);
    return want;
  }
  const { port } = new SharedWorker("/worker.js", { type: "module" });
  port.onmessage = ({ data }: MessageEvent<HubMessage>) => hear(data);
  const post = (message: TabMessage) => port.postMessage(message);
  const lock = crypto.randomUUID();
  navigator.locks.request(lock, () => {
    post({ lock });
    // Held until the tab is gone.
    return new Promise(() => {});
  });
  return (wishes) => post({ wishes });
}
