// The views of the list of jobs, and of one job: how it stands, why, and its spec.

import { actions } from "./act.js";
import { get, path } from "./api.js";
import { h, lines } from "./dom.js";
import { failures, groupWaiting, ranges, shortText, until, waitingNote, waits } from "./failures.js";
import { bytes, clock, elapsed, shortBytes, stamp, sum } from "./format.js";
import { exit, fields, input, jobLink, link, nodeLink, nodeLinks, pages, picker, section, select, state, table, usage } from "./parts.js";

const ends = ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "DEADLINE", "BOOT_FAIL"];

const stateChoices = [
  ["", "Any"], ["PENDING,STARTING,RUNNING,COMPLETING", "Not ended"], ["PENDING", "Pending"],
  ["STARTING,RUNNING,COMPLETING", "Running"], [ends.join(","), "Ended"],
  ["FAILED,TIMEOUT,NODE_FAIL,OUT_OF_MEMORY,DEADLINE,BOOT_FAIL", "Gone wrong"],
  ...ends.map((name) => [name, name]),
];

// where says where a job is, why it is nowhere, or why it has failed.
function where(j) {
  if (j.state === "PENDING" && j.reason) return `(${waits(j)})`;
  if (["FAILED", "BOOT_FAIL"].includes(j.state) && j.message) return `(${shortText(j.message)})`;
  return j.nodes ? nodeLinks(j.nodes) : null;
}

// expected says when and where a job that waits is expected to start, if room is kept
// for it; of a job, or of the explanation of one of its elements.
export function expected(j) {
  return j.expectedStart && [`to start by ${stamp(j.expectedStart)} on `, nodeLinks(j.expectedNodes)];
}

// likely says when something that waits will probably start, if the servers make forecasts.
export function likely(f) {
  if (!f) return null;
  const at = (time) => !f.at ? "not evaluated" : time ? stamp(time) : "not foreseen";
  const p50 = at(f.p50), p90 = at(f.p90);
  if (!f.p50) return p50;
  return p50 === p90 ? `by ${p50} (P50 and P90)` : `by ${p50} (P50), ${p90} (P90)`;
}

// doneOf says how many elements of an array have ended.
function doneOf(j) {
  return j.array ? `${sum(ends, (name) => j.counts[name] ?? 0)}/${j.elements}` : "-";
}

// jobs is the list of jobs.
export function jobs(_, query) {
  return {
    title: "Jobs",
    async load(signal) {
      const [list, { queues }] = await Promise.all([get(path("jobs"), query, signal), get(path("queues"), {}, signal)]);
      return { list, queues };
    },
    show: ({ list, queues }) => [
      h("h1", { tabindex: "-1" }, "Jobs"),
      picker("Which jobs", "/jobs", query, [
        select("State", "state", query.state, stateChoices),
        select("Queue", "queue", query.queue, [["", "Any"], ...queues.map((q) => [q.name, q.name])]),
        input("Owner", "owner", query.owner), input("Name", "name", query.name),
      ]),
      table("Jobs, the newest first", [
        ["Job", (j) => jobLink(j.id)], ["Name", (j) => jobLink(j.id, j.name), "text"],
        ["Owner", (j) => j.owner], ["Queue", (j) => j.queue], ["Priority", (j) => j.priority, "number"],
        ["State", (j) => state(j.state)], ["Done", doneOf, "number"], ["Ended", (j) => stamp(j.ended), "number"],
        ["Time", (j) => elapsed(j.started, j.ended), "number"], ["Nodes or reason", where, "text"],
      ], list.jobs, "No job is like that."),
      pages("/jobs", query, list.after),
    ],
  };
}

// heading is the same in all views of a job.
export function heading(j, view) {
  const tabs = [["", "Overview"], ["explain", "Explanation"], ["log", "Log"], ["spec", "Spec"]];
  return [
    h("h1", { tabindex: "-1" }, `Job ${j.id} `, h("span", { class: "name" }, j.name), " ", state(j.state)),
    actions(j),
    h("nav", { class: "tabs", "aria-label": "Views of the job" }, tabs.map(([name, text]) =>
      link(`/jobs/${j.id}${name && "/" + name}`, text, { "aria-current": name === view && "page" }))),
  ];
}

// job is one job.
export function job([id]) {
  return {
    title: "Job " + id,
    load: (signal) => get(path("jobs", id), {}, signal),
    show: (j) => [
      heading(j, ""),
      fields([
        ["Reason", [until(j), j.message].filter(Boolean).join(": ")],
        ["Expected", expected(j)], ["Likely", likely(j.forecast)],
        ["Owner", j.owner], ["Queue", link("/jobs?" + new URLSearchParams({ queue: j.queue }), j.queue)],
        ["Priority", j.priority],
        ["Elements", j.array && [`${j.elements}: `, Object.entries(j.counts).sort().map(([name, n]) =>
          h("span", { class: "count" }, `${n} `, state(name)))]],
        ["Tasks", j.tasks > 1 && `${j.tasks} together`],
        ["Submitted", stamp(j.submitted)], ["Started", stamp(j.started)], ["Ended", stamp(j.ended)],
        ["Time", elapsed(j.started, j.ended)], ["Nodes", j.nodes && nodeLinks(j.nodes)],
        ["Usage", usage(j.usage, j.gpuSeconds)],
      ]),
      j.elementList && section("Under way", underWay(j)),
      failures(j.failures),
      section("Attempts that have ended", attempts(j)),
      h("p", {}, link("/events?" + new URLSearchParams({ job: id }), "Events of this job")),
    ],
  };
}

// underWay shows elements and their tasks.
function underWay(j) {
  const rows = groupWaiting(j.elementList).flatMap((group) => (group.e.tasks ?? [null]).map((task) => ({ ...group, task })));
  const note = (row) => row.task?.stopping ?? waitingNote(row);
  const rank = (task) => task.id.slice(task.id.lastIndexOf(".") + 1);
  return table("Elements and tasks under way", [
    ["Element", ({ indexes }) => shortText(ranges(indexes))], ["Attempt", ({ e }) => e.attempt],
    ["Task", ({ e, task }) => task && logLink(j, { element: e.index, attempt: e.attempt, rank: rank(task) }, rank(task))],
    ["State", ({ e, task }) => state((task ?? e).state)], ["Node", ({ task }) => task && nodeLink(task.node)],
    ["Time", ({ task }) => elapsed(task?.started), "number"],
    ["GPUs", ({ task }) => task?.gpus?.map(({ gpu, share }) => (share < 1000 ? `${gpu} (${share / 1000})` : gpu)).join(", ") || null],
    ["Note", note, "text"],
  ], rows);
}

// logLink leads to the log of a task.
function logLink(j, query, text) {
  return link(`/jobs/${j.id}/log?${new URLSearchParams(query)}`, text, { title: "Its log" });
}

// attempts shows attempts, the latest first, without those that failures shows.
function attempts(j) {
  const single = (j.attempts ?? []).filter((a) => !a.failure);
  return table("Attempts that have ended", [
    ["Element", (a) => a.element],
    ["Attempt", (a) => logLink(j, { element: a.element, attempt: a.attempt, rank: a.rank ?? 0 }, a.attempt)],
    ["State", (a) => state(a.state)], ["Exit", (a) => exit(a.exit)], ["Nodes", (a) => a.nodes && nodeLinks(a.nodes), "text"],
    ["Started", (a) => stamp(a.started)], ["Time", (a) => elapsed(a.started, a.ended), "number"],
    ["CPU", (a) => clock(a.usage?.cpuSeconds ?? 0), "number"],
    ["Memory", (a) => shortBytes(bytes(a.usage?.peakMemory)), "number"], ["Note", (a) => a.message, "text"],
  ], single.toReversed(), j.failures ? "No others." : undefined);
}

// spec is what was submitted.
export function spec([id]) {
  return {
    title: `Job ${id}, spec`,
    load: (signal) => get(path("jobs", id), {}, signal),
    show(j) {
      const { script, ...rest } = j.spec;
      return [
        heading(j, "spec"),
        h("pre", { tabindex: "0", "aria-label": "Spec" }, lines(outline(rest).join("\n"))),
        script && section("Script", h("pre", { tabindex: "0", "aria-label": "Script" }, lines(script))),
      ];
    },
  };
}

// outline writes a value as indented lines.
function outline(value) {
  return Object.entries(value).flatMap(([key, v]) => {
    if (typeof v !== "object" || v === null) return [`${key}: ${scalar(v)}`];
    if (Array.isArray(v)) return [`${key}:`, ...v.flatMap(item)];
    return [`${key}:`, ...outline(v).map((line) => "  " + line)];
  });
}

function item(v) {
  if (typeof v !== "object") return ["  - " + scalar(v)];
  return outline(v).map((line, i) => (i === 0 ? "  - " : "    ") + line);
}

// scalar writes a text in quotes where it could be taken for something else.
function scalar(v) {
  return typeof v === "string" && /^[\w./%@+][\w./%@+ =,-]*$/.test(v) ? v : JSON.stringify(v);
}
