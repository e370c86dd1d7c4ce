/// <reference lib="dom" />
/** The shared worker: one stream for all tabs. */
import { BROWSER, Hub, type TabMessage } from "./data/hub.ts";

const hub = new Hub(BROWSER);

interface ConnectEvent extends Event {
  ports: readonly MessagePort[];
}

globalThis.addEventListener("connect", (event) => {
  const [port] = (event as ConnectEvent).ports;
  const tab = hub.add((message) => port.postMessage(message));
  port.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if ("wishes" in data) return tab.want(data.wishes);
    // The browser gives it away when the tab is closed, or crashes.
    navigator.locks.request(data.lock, () => tab.remove());
  };
});
