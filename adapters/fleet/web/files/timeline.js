// The view of the future: a row for each node, from now on, with what runs there until when,
// what is set aside, and what is expected to start. One node's row is as high as there is
// room for: hundreds of nodes are still one picture.

import { get, path } from "./api.js";
import { h, svg } from "./dom.js";
import { plural, stamp } from "./format.js";
import { likely } from "./jobs.js";
import { picker, input, section, select, table, jobLink, nodeLinks } from "./parts.js";

const hour = 3600_000;

// spans are how far the picture reaches, in hours.
const spans = [["1", "1 hour"], ["6", "6 hours"], ["24", "a day"], ["168", "a week"], ["672", "4 weeks"]];

// margin is the part of the width that has the names of nodes, in percent.
const margin = 12;

// rowHeight is how high the row of each of so many nodes is, in pixels.
export function rowHeight(nodes) {
  if (nodes <= 60) return 22;
  return nodes <= 200 ? 12 : 6;
}

// steps are the stretches of time in which a node is used equally, from now on: what has
// of it then what must end later. A step is {from, to, part, tasks, jobs}.
export function steps(node, from, to) {
  const cpu = Number(node.cpu) || 1;
  const busy = node.busy ?? [];
  const out = [];
  let at = from;
  busy.forEach((b, i) => {
    const until = Math.min(b.until ? Math.max(Date.parse(b.until), at) : to, to);
    const rest = busy.slice(i);
    const used = rest.reduce((sum, r) => sum + Number(r.cpu), 0);
    if (until > at) {
      out.push({
        from: at, to: until, part: Math.min(used / cpu, 1), tasks: rest.reduce((sum, r) => sum + r.tasks, 0),
        jobs: rest.flatMap((r) => r.jobs ?? []),
      });
    }
    at = Math.max(at, until);
  });
  return out;
}

// shade is the class of a part of a node that is used.
const shade = (part) => "busy" + Math.max(1, Math.ceil(part * 4));

// chart is the picture.
function chart(line, from, to) {
  const height = rowHeight(line.nodes.length), top = 24;
  const place = new Map(line.nodes.map((n, i) => [n.node, top + i * height]));
  const x = (time) => margin + (100 - margin) * (Math.min(Math.max(time, from), to) - from) / (to - from);
  const box = (kind, a, b, y, text) => svg("rect", {
    class: kind, x: x(a) + "%", y, width: Math.max(x(b) - x(a), .1) + "%", height: Math.max(height - 1, 2),
  }, svg("title", {}, text));
  const boxes = [];
  for (const n of line.nodes) {
    const y = place.get(n.node);
    if (n.closed) boxes.push(box("closed", from, to, y, `${n.node} takes no tasks now`));
    for (const s of steps(n, from, to)) {
      const jobs = s.jobs.length ? `, of jobs ${s.jobs.join(", ")}` : "";
      boxes.push(box(shade(s.part), s.from, s.to, y, `${n.node}: ${plural(s.tasks, "task")}, ${Math.round(100 * s.part)}% of its CPU, until ${stamp(s.to)}${jobs}`));
    }
    if (n.maintenance && Date.parse(n.maintenance.to) > from) {
      boxes.push(box("kept", Date.parse(n.maintenance.from), Date.parse(n.maintenance.to), y, `${n.node}: maintenance until ${stamp(n.maintenance.to)}`));
    }
  }
  for (const r of line.reservations ?? []) {
    if (Date.parse(r.from) >= to) continue;
    for (const name of r.nodes ?? []) {
      if (place.has(name)) boxes.push(box("kept", Date.parse(r.from), Date.parse(r.to), place.get(name), `${name}: reservation ${r.name} from ${stamp(r.from)} to ${stamp(r.to)}`));
    }
  }
  for (const p of line.promises ?? []) {
    if (Date.parse(p.from) >= to) continue;
    for (const name of p.nodes ?? []) {
      if (place.has(name)) boxes.push(box("promised", Date.parse(p.from), p.to ? Date.parse(p.to) : to, place.get(name), `${name}: job ${p.job} is expected to start by ${stamp(p.from)}`));
    }
  }
  // Where rows are low, not all can have their names.
  const each = Math.ceil(14 / height);
  const names = line.nodes.filter((_, i) => i % each === 0).map((n) =>
    svg("text", { x: margin - .5 + "%", y: place.get(n.node) + Math.max(height / 2 + 4, 9), class: "name" }, n.node));
  const hours = [0, .25, .5, .75, 1].map((part) => {
    const at = from + part * (to - from);
    return [svg("line", { class: "hour", x1: x(at) + "%", x2: x(at) + "%", y1: top - 4, y2: top + line.nodes.length * height }),
      svg("text", { x: x(at) + "%", y: 12, class: part === 1 ? "time last" : "time" }, stamp(at).slice(5, 16))];
  });
  return svg("svg", {
    class: "timeline", role: "img", width: "100%", height: top + line.nodes.length * height + 4,
    "aria-label": `What ${plural(line.nodes.length, "node")} will do until ${stamp(to)}; the tables below say the same`,
  }, hours, boxes, names);
}

// timeline is what is known of the future of nodes.
export function timeline(_, query) {
  const span = Number(spans.some(([n]) => n === query.hours) ? query.hours : "24") * hour;
  return {
    title: "Timeline",
    load: (signal) => get(path("timeline"), {}, signal),
    show(line) {
      const from = Date.parse(line.at), to = from + span;
      const nodes = line.nodes.filter((n) => n.node.includes(query.node ?? ""));
      const within = (r) => Date.parse(r.from) < to;
      return [
        h("h1", { tabindex: "-1" }, "Timeline"),
        picker("What to show", "/timeline", query, [select("For", "hours", query.hours ?? "24", spans), input("Nodes with", "node", query.node)]),
        h("p", { class: "hint" }, "It goes by time limits: what ends earlier makes room earlier. What has no limit is shown to the end."),
        h("p", { class: "legend" }, [["busy1", "up to a quarter busy"], ["busy2", "half"], ["busy3", "three quarters"], ["busy4", "more"],
          ["kept", "set aside"], ["promised", "expected start"], ["closed", "takes no tasks"]].map(([kind, text]) =>
          h("span", {}, svg("svg", { class: "timeline", width: 14, height: 12, "aria-hidden": "true" }, svg("rect", { class: kind, width: 14, height: 12 })), " ", text))),
        nodes.length ? h("div", { class: "scroll" }, chart({ ...line, nodes }, from, to)) : h("p", { class: "empty" }, "There is no such node."),
        section("Expected starts", table("Expected starts", [
          ["Job", (p) => jobLink(p.job)],
          ["By", (p) => stamp(p.from)],
          ["Until", (p) => stamp(p.to)],
          ...((line.promises ?? []).some((p) => p.forecast) ? [["Likely", (p) => likely(p.forecast), "text"]] : []),
          ["Nodes", (p) => nodeLinks(p.nodes ?? []), "text"],
        ], line.promises ?? [], "No job of yours has a promise now.")),
        section("Set aside", table("Set aside", [
          ["Reservation", (r) => r.name],
          ["From", (r) => stamp(r.from)],
          ["To", (r) => stamp(r.to)],
          ["Nodes", (r) => nodeLinks(r.nodes ?? []), "text"],
        ], (line.reservations ?? []).filter(within), "Nothing in this time.")),
      ];
    },
  };
}
