// The view of why an element of a job waits, or is where it is.

import { get, path } from "./api.js";
import { h } from "./dom.js";
import { failures, until } from "./failures.js";
import { expected, heading, likely } from "./jobs.js";
import { fields, input, nodeLink, picker, section, state, table } from "./parts.js";

// shown is how many nodes are shown each by itself.
const shown = 200;

// explain is the view.
export function explain([id], query) {
  return {
    title: `Job ${id}, explanation`,
    async load(signal) {
      const [j, e] = await Promise.all([
        get(path("jobs", id), {}, signal), get(path("jobs", id, "explain"), query, signal),
      ]);
      return { j, e };
    },
    show: ({ j, e }) => [
      heading(j, "explain"),
      j.array && picker("Which element", `/jobs/${id}/explain`, query, [
        input("Element", "element", e.element, { type: "number", min: 0, inputmode: "numeric" }),
      ]),
      fields([
        ["Element", j.array && String(e.element)], ["State", state(e.state)], ["Reason", until(e)], ["Message", e.message],
        ["Expected", expected(e)], ["Likely", likely(e.forecast)], ["Place in the queue", e.position],
      ]),
      failures(e.failures),
      e.nodes ? [section("Why not", reasons(e)), section("Nodes", byNode(e))]
        : h("p", { class: "empty" }, "The scheduler has no record of how it looked at the nodes."),
    ],
  };
}

const words = (v) => v.reasons.join(", ");

// reasons shows how many nodes there are for each verdict, the most common first.
function reasons(e) {
  const counts = new Map();
  for (const v of e.nodes.flatMap((n) => n.verdicts ?? [])) counts.set(words(v), (counts.get(words(v)) ?? 0) + 1);
  const fit = e.nodes.filter((n) => n.feasible).length;
  return [
    h("p", {}, e.tasks > 1
      ? `${fit} of ${e.nodes.length} nodes fit, for one task or more. It needs room for ${e.tasks} tasks at once.`
      : `${fit} of ${e.nodes.length} nodes fit.`),
    counts.size > 0 && table("Reasons", [["Nodes", ([, n]) => n, "number"], ["Why not", ([text]) => text, "text"]],
      [...counts].sort((a, b) => b[1] - a[1])),
  ];
}

// byNode shows each node: what speaks against it, or its points by plugin, of those
// plugins that give any.
function byNode(e) {
  const scored = e.nodes.some((n) => n.scores);
  const scores = (scored ? e.scores : []).map((plugin, i) => [plugin, (n) => n.scores?.[i], "number"])
    .filter(([, points]) => e.nodes.some(points));
  const fits = (n) => (n.unseen ? "not tried" : n.feasible ? "yes" : "no");
  return [
    table("Nodes", [
      ["Node", (n) => nodeLink(n.node)], ["Fits", fits], ...(scored ? [["Total", (n) => (n.feasible ? n.total ?? 0 : null), "number"]] : []), ...scores,
      ["Why not", (n) => n.verdicts?.map(words).join(", "), "text"],
    ], e.nodes.slice(0, shown)),
    e.nodes.length > shown && h("p", { class: "hint" }, `and ${e.nodes.length - shown} more nodes.`),
  ];
}
