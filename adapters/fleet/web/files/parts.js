// Parts that several views have.

import { h } from "./dom.js";
import { clock, shortBytes, bytes } from "./format.js";

const tones = {
  RUNNING: "good", COMPLETED: "good", READY: "good",
  PENDING: "wait", STARTING: "wait", COMPLETING: "wait", DRAINING: "wait", DRAINED: "wait", UNREACHABLE: "wait",
  PREEMPTED: "wait", REQUEUED: "wait",
  FAILED: "bad", TIMEOUT: "bad", NODE_FAIL: "bad", OUT_OF_MEMORY: "bad", BOOT_FAIL: "bad", DEADLINE: "bad",
  LOST: "bad", UNHEALTHY: "bad",
};

// state shows a state.
export function state(name) {
  return h("span", { class: "state " + (tones[name] ?? "calm") }, name);
}

// table shows rows. A column is [title, cell of a row, class]; it is a table to
// screen readers where a narrow page shows its rows as cards, too.
export function table(label, columns, rows, empty = "None.") {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  return h("div", { class: "scroll" }, h("table", { role: "table", "aria-label": label },
    tableHead(columns), h("tbody", { role: "rowgroup" }, rows.map((row) => tableRow(columns, row)))));
}

// tableHead is the head of a table. Long names may be broken between their words.
export function tableHead(columns) {
  const words = (title) => title.split(/(?<=[a-z])(?=[A-Z])/).map((word, i) => [i > 0 && h("wbr"), word]);
  return h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map(([title, , kind]) =>
    h("th", { role: "columnheader", scope: "col", class: kind }, words(title)))));
}

// tableRow is a row of a table. Cells without a value are left out of cards.
export function tableRow(columns, row) {
  return h("tr", { role: "row" }, columns.map(([title, cell, kind]) => {
    const value = cell(row) ?? "-";
    return h("td", { role: "cell", class: [kind, value === "-" && "none"].filter(Boolean).join(" ") || null, "data-title": title },
      h("span", {}, value));
  }));
}

// fields shows names and values. Empty values are left out.
export function fields(pairs) {
  const there = pairs.filter(([, value]) => value != null && value !== false && value !== "" && value !== "-");
  return h("dl", { class: "fields" }, there.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

// section is a part of a page with a title.
export function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), children);
}

// share shows how much of something is used.
export function share(title, used, there, write) {
  return h("div", { class: "share" }, h("span", { class: "title" }, title),
    h("span", { class: "amount" }, h("strong", {}, write(used)), ` of ${write(there)}`),
    h("progress", { "aria-label": `${title} in use`, value: used, max: there || 1 }));
}

// usage says what was used.
export function usage(u, gpuSeconds) {
  if (!u && !gpuSeconds) return "";
  const amount = (name) => shortBytes(bytes(u?.[name]));
  return `cpu ${clock(u?.cpuSeconds ?? 0)}, peak memory ${amount("peakMemory")}, read ${amount("readBytes")}, ` +
    `written ${amount("writeBytes")}` + (gpuSeconds ? `, gpu ${clock(gpuSeconds)}` : "");
}

// exit says how a process ended.
export function exit(e) {
  if (!e) return "-";
  return e.signal ? "SIG" + e.signal : String(e.code);
}

// link is a link to another view.
export function link(to, text, attributes) {
  return h("a", { href: "#" + to, ...attributes }, text);
}

// jobLink and nodeLink lead to a job and to a node.
export const jobLink = (id, text = id) => link("/jobs/" + encodeURIComponent(id), text);
export const nodeLink = (name) => link("/nodes/" + encodeURIComponent(name), name);

// nodeLinks are links to nodes, not too many.
export function nodeLinks(names) {
  const shown = names.slice(0, 4).map((name, i) => [i ? ", " : "", nodeLink(name)]);
  return names.length > 4 ? [shown, ` and ${names.length - 4} more`] : shown;
}

// pages are the links to other pages of a list.
export function pages(where, query, next) {
  if (!next && !query.after) return null;
  const to = (after) => where + "?" + new URLSearchParams(Object.entries({ ...query, after }).filter(([, value]) => value));
  return h("nav", { class: "pages", "aria-label": "Pages" },
    query.after && link(to(""), "First page"), next && link(to(next), "Next page"));
}

// picker is a form whose fields are the query of a view.
export function picker(label, where, query, controls) {
  const go = (event) => {
    event.preventDefault();
    const chosen = new URLSearchParams([...new FormData(event.currentTarget)].filter(([, value]) => value !== ""));
    location.hash = chosen.size ? `${where}?${chosen}` : where;
  };
  return h("form", { class: "picker", "aria-label": label, onsubmit: go, "data-keep": true }, controls,
    h("button", { type: "submit" }, "Show"));
}

// input is a labelled field of a form.
export function input(label, name, value, attributes) {
  return h("label", {}, h("span", {}, label), h("input", { name, value, autocomplete: "off", ...attributes }));
}

// select is a labelled choice; choices are [value, text].
export function select(label, name, value, choices) {
  return h("label", {}, h("span", {}, label), h("select", { name }, choices.map(([v, text]) =>
    h("option", { value: v, selected: v === (value ?? "") }, text))));
}
