// The view of what happens.

import { lines, path, send } from "./api.js";
import { h, onPage } from "./dom.js";
import { stamp } from "./format.js";
import { input, jobLink, nodeLink, picker, state, tableHead, tableRow } from "./parts.js";

// shown is how many events are on the page.
const shown = 500;

// again is the pause before a stream that broke off is taken up, in milliseconds.
const again = 2000;

// events is the view. Its stream rests while nobody looks.
export function events(_, query) {
  return {
    title: "Events",
    still: true,
    load: async () => null,
    show: () => [
      h("h1", { tabindex: "-1" }, "Events"),
      picker("Which events", "/events", query, [
        input("Job", "job", query.job, { inputmode: "numeric" }), input("Node", "node", query.node),
      ]),
      h("p", { id: "events-end", class: "hint", role: "status" }, "Reading …"),
      h("div", { class: "scroll" }, h("table", { role: "table", "aria-label": "Events, the latest first" },
        tableHead(columns), h("tbody", { id: "events", role: "rowgroup" }))),
    ],
    start: (signal) => follow(query, signal),
  };
}

// follow keeps a stream open while the page is seen.
async function follow(query, signal) {
  let after = "";
  const say = (text) => (onPage("events-end").textContent = text);
  while (!signal.aborted) {
    await seen(signal);
    const stop = new AbortController();
    const rest = () => document.hidden && stop.abort();
    document.addEventListener("visibilitychange", rest);
    const leave = () => stop.abort();
    signal.addEventListener("abort", leave);
    try {
      const answer = await send("GET", path("events"), { query: { ...query, after, follow: true }, signal: stop.signal });
      say("Following …");
      for await (const bundle of lines(answer)) {
        if (bundle.length > 0) after = bundle.at(-1).id;
        add(bundle.slice(-shown));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      if (!stop.signal.aborted) say(error.status ? error.message : "The stream broke off. It is taken up in a moment.");
    } finally {
      document.removeEventListener("visibilitychange", rest);
      signal.removeEventListener("abort", leave);
    }
    await new Promise((go) => setTimeout(go, again));
  }
}

// seen waits until the page is seen, or left.
function seen(signal) {
  return new Promise((go) => {
    if (!document.hidden || signal.aborted) return go();
    document.addEventListener("visibilitychange", go, { once: true });
    signal.addEventListener("abort", go, { once: true });
  });
}

// add puts events on the page, the latest on top.
function add(bundle) {
  const to = onPage("events");
  to.prepend(...bundle.map((e) => tableRow(columns, e)).reverse());
  while (to.childElementCount > shown) to.lastElementChild.remove();
}

const columns = [
  ["Time", (e) => stamp(e.at)],
  ["What", (e) => e.kind],
  ["Job", (e) => (e.job ? jobLink(e.job, nameOf(e)) : null)],
  ["Node", (e) => (e.node ? nodeLink(e.node) : null)],
  ["State", (e) => (e.state ? state(e.state) : null)],
  ["Message", (e) => [e.message, e.by && `by ${e.by}`].filter(Boolean).join("  ") || null, "text"],
];

// nameOf says which part of a job it is about.
function nameOf(e) {
  return e.job + (e.element == null ? "" : `_${e.element}`) + (e.attempt ? ` attempt ${e.attempt}` : "");
}
