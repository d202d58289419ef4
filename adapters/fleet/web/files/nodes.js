// The views of the cluster, of nodes and of one node.

import { all, get, path } from "./api.js";
import { h } from "./dom.js";
import { bytes, cores, elapsed, plural, shortBytes, stamp, sum } from "./format.js";
import { fields, jobLink, link, nodeLink, nodeLinks, pages, section, share, state, table } from "./parts.js";

// stateOf is the state of a node in one word.
function stateOf(n) {
  if (n.state !== "READY") return n.state;
  if (n.drain) return n.used.tasks > 0 ? "DRAINING" : "DRAINED";
  return n.unhealthy ? "UNHEALTHY" : n.state;
}

// noteOf says what there is to say about a node.
function noteOf(n) {
  const notes = [n.drain?.reason, n.unhealthy];
  if (n.maintenance) {
    const { from, to, reason } = n.maintenance;
    notes.push(`maintenance from ${stamp(from)} to ${stamp(to)} ${reason ?? ""}`.trim());
  }
  return notes.filter(Boolean).join("; ");
}

const gpusUsed = (n) => sum(n.used.gpus ?? [], (share) => share) / 1000;
const gpusThere = (n) => n.machine.gpus?.length ?? 0;
const ofBytes = (used, there) => `${shortBytes(bytes(used))}/${shortBytes(bytes(there))}`;

function nodeTable(label, nodes, empty) {
  return table(label, [
    ["Node", (n) => nodeLink(n.name)],
    ["State", (n) => state(stateOf(n))],
    ["Tasks", (n) => n.used.tasks, "number"],
    ["CPU", (n) => `${n.used.cpu}/${n.machine.cpu}`, "number"],
    ["Memory", (n) => ofBytes(n.used.memory, n.machine.memory), "number"],
    ["Disk", (n) => ofBytes(n.used.disk, n.machine.disk), "number"],
    ["GPUs", (n) => (gpusThere(n) ? `${cores(gpusUsed(n))}/${gpusThere(n)}` : "-"), "number"],
    ["Note", (n) => noteOf(n) || null, "text"],
  ], nodes, empty);
}

// troubled is how many nodes that need a look the first page shows.
const troubled = 20;

// cluster is the first page.
export function cluster() {
  return {
    title: "Cluster",
    async load(signal) {
      const [status, nodes, { queues }] = await Promise.all([
        get(path("server", "status"), {}, signal), all(path("nodes"), "nodes", signal), get(path("queues"), {}, signal),
      ]);
      return { status, nodes, queues };
    },
    show({ status, nodes, queues }) {
      const ready = nodes.filter((n) => n.state === "READY");
      const odd = nodes.filter((n) => stateOf(n) !== "READY" || noteOf(n));
      const gpus = sum(ready, gpusThere);
      return [
        h("h1", { tabindex: "-1" }, "Cluster"),
        h("div", { class: "shares" },
          share("CPU", sum(ready, (n) => Number(n.used.cpu)), sum(ready, (n) => Number(n.machine.cpu)), cores),
          share("Memory", sum(ready, (n) => bytes(n.used.memory)), sum(ready, (n) => bytes(n.machine.memory)), shortBytes),
          gpus > 0 && share("GPUs", sum(ready, gpusUsed), gpus, cores),
          share("Nodes ready", nodes.filter((n) => stateOf(n) === "READY").length, nodes.length, String)),
        fields([
          ["Nodes", byState(nodes)],
          ["Tasks", sum(nodes, (n) => n.used.tasks)],
          ["Jobs", `${status.running} running and ${status.pending} pending, each element of an array counted; ` +
            `${status.jobs} known, with those that have ended`],
          ["Leader", status.leader ?? "none"],
          ["This server", `${status.id}, version ${status.version || "unknown"}, up ${elapsed(status.started)}`],
        ]),
        section("Queues", queueTable(queues)),
        section("Nodes that need a look", nodeTable("Nodes that need a look", odd.slice(0, troubled), "All are in order."),
          odd.length > troubled && h("p", {}, `and ${odd.length - troubled} more; see `, link("/nodes", "all nodes"))),
      ];
    },
  };
}

// byState counts nodes in each state.
function byState(nodes) {
  const counts = new Map();
  for (const n of nodes) counts.set(stateOf(n), (counts.get(stateOf(n)) ?? 0) + 1);
  return [...counts].sort().map(([name, n]) => h("span", { class: "count" }, `${n} `, state(name)));
}

function queueTable(queues) {
  const jobsOf = (q, states, text) => link("/jobs?" + new URLSearchParams({ queue: q.name, state: states }), text);
  return table("Queues", [
    ["Queue", (q) => link("/jobs?" + new URLSearchParams({ queue: q.name }), q.name)],
    ["Priority", (q) => q.priority ?? 0, "number"],
    ["Pending", (q) => jobsOf(q, "PENDING", q.pending), "number"],
    ["Running", (q) => jobsOf(q, "STARTING,RUNNING,COMPLETING", q.running), "number"],
    ["Default time", (q) => q.defaultTime, "number"],
    ["Longest time", (q) => q.maxTime, "number"],
    ["Memory per CPU", (q) => q.defaultMemoryPerCPU, "number"],
    ["Note", (q) => [q.stopped && "stopped", q.preempts && "preempts", q.users?.length && "for " + q.users.join(", ")]
      .filter(Boolean).join("; ") || null, "text"],
  ], queues);
}

// nodes is the list of nodes.
export function nodes(_, query) {
  return {
    title: "Nodes",
    load: (signal) => get(path("nodes"), { after: query.after }, signal),
    show: ({ nodes, after }) => [
      h("h1", { tabindex: "-1" }, "Nodes"),
      nodeTable("Nodes", nodes, "No node has registered."),
      pages("/nodes", query, after),
    ],
  };
}

// node is one node.
export function node([name]) {
  return {
    title: "Node " + name,
    async load(signal) {
      const [n, { jobs, after }] = await Promise.all([
        get(path("nodes", name), {}, signal),
        get(path("jobs"), { state: "STARTING,RUNNING,COMPLETING", limit: 1000 }, signal),
      ]);
      return { n, jobs: jobs.filter((j) => j.nodes?.includes(name)), whole: !after };
    },
    show: ({ n, jobs, whole }) => [
      h("h1", { tabindex: "-1" }, "Node ", n.name, " ", state(stateOf(n))),
      (n.machine.warnings ?? []).map((text) => h("p", { class: "warning" }, h("strong", {}, "Warning: "), text)),
      h("div", { class: "shares" },
        share("CPU", Number(n.used.cpu), Number(n.machine.cpu), cores),
        share("Memory", bytes(n.used.memory), bytes(n.machine.memory), shortBytes),
        share("Disk", bytes(n.used.disk), bytes(n.machine.disk), shortBytes),
        gpusThere(n) > 0 && share("GPUs", gpusUsed(n), gpusThere(n), cores),
        share("Tasks", n.used.tasks, n.machine.maxTasks, String)),
      machine(n),
      section("Jobs that run here", runningHere(jobs, n.used.tasks),
        !whole && h("p", { class: "hint" }, "Only the newest 1000 jobs that run were looked at.")),
      devices(n), resources(n),
      section("Labels", table("Labels", [["Label", ([key]) => key], ["Value", ([, value]) => value, "text"]],
        Object.entries(n.labels ?? {}).sort())),
      h("p", {}, link("/events?" + new URLSearchParams({ node: n.name }), "Events of this node")),
    ],
  };
}

// machine says what a node is.
function machine(n) {
  const m = n.machine, d = n.drain;
  const isolation = m.isolation.cgroup ? "cgroups: " + (m.isolation.controllers?.join(", ") || "no controllers") : "process groups";
  return fields([
    ["Note", noteOf(n)],
    ["Drain", d && `since ${stamp(d.since)} by ${d.by || "?"}` + (d.deadline ? `, tasks are ended at ${stamp(d.deadline)}` : "")],
    ["Address", n.address], ["Version", n.version], ["Seen", stamp(n.seen)], ["Registered", stamp(n.registered)],
    ["System", `${m.hostname} ${m.os} ${m.arch} ${m.kernel}`],
    ["Processors", `${plural(m.sockets, "socket")}, ${plural(m.cores, "core")}, ${plural(m.threads, "thread")}`],
    ["Isolation", isolation],
  ]);
}

function runningHere(jobs, tasks) {
  return table("Jobs that run here", [
    ["Job", (j) => jobLink(j.id)], ["Name", (j) => j.name, "text"], ["Owner", (j) => j.owner],
    ["State", (j) => state(j.state)], ["Time", (j) => elapsed(j.started, j.ended), "number"],
    ["Nodes", (j) => nodeLinks(j.nodes), "text"],
  ], jobs, tasks > 0 ? "None of yours; others have tasks here." : "None.");
}

// devices are the GPUs of a node, resources what operators gave names to.
function devices(n) {
  if (!gpusThere(n)) return null;
  return section("GPUs", table("GPUs", [
    ["GPU", ([i]) => i], ["Model", ([, g]) => g.model, "text"],
    ["Memory", ([, g]) => shortBytes(bytes(g.memory)), "number"],
    ["Used", ([i]) => cores((n.used.gpus?.[i] ?? 0) / 1000), "number"],
  ], [...n.machine.gpus.entries()]));
}

function resources(n) {
  const other = Object.entries(n.machine.other ?? {}).sort();
  if (other.length === 0) return null;
  return section("Resources", table("Resources", [
    ["Resource", ([name]) => name], ["Used", ([name]) => n.used.other?.[name] ?? 0, "number"],
    ["Amount", ([, amount]) => amount, "number"],
  ], other));
}
