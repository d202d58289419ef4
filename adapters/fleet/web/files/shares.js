// The view of shares: the tree of queues and their users.

import { get, path } from "./api.js";
import { h } from "./dom.js";
import { clock } from "./format.js";
import { link, section, table } from "./parts.js";

const percent = (part) => (100 * part).toFixed(1) + "%";

// amounts are amounts as the command line writes them.
export function amounts(a) {
  const { other, ...named } = a ?? {};
  const all = { ...named, ...other };
  return Object.entries(all).map(([name, value]) => `${name}=${value}`).join(",") || "-";
}

// meter shows how much of what it is entitled to somebody uses.
function meter(s) {
  const name = s.user ? `user ${s.user}` : `queue ${s.queue}`;
  return [h("progress", { class: s.share > s.entitled ? "over" : null, "aria-label": `Share of ${name}`, value: s.share, max: 1 }),
    h("span", { class: "amount" }, percent(s.share), s.dominant ? ` of ${s.dominant}` : "")];
}

// used is for how long all of the fleet would have been used by what counts.
export function used({ usage }) {
  if (!usage?.of) return usage ? clock(0) : "-";
  return clock(usage.fleet) + (usage.of === "prices" ? " by prices" : ` of ${usage.of}`);
}

// level is the part of the weights over that of what was used. Where nothing was it has no end.
export function level({ usage, level }) {
  return usage ? level?.toFixed(3) ?? "inf" : "-";
}

// past are the columns of queues that go by what was used over time.
const past = [
  ["Used", used, "text"],
  ["Effective", (s) => s.usage && percent(s.effective ?? 0), "number"],
  ["Level", level, "number"],
  ["Rank", (s) => s.rank, "number"],
];

// shares is the tree of queues, with users in them.
export function shares() {
  return {
    title: "Shares",
    load: (signal) => get(path("shares"), {}, signal),
    show: ({ byQueues, shares }) => [
      h("h1", { tabindex: "-1" }, "Shares"),
      h("p", { class: "hint" }, byQueues
        ? "Of queues beside each other, and of the users of a queue, the one that uses least for its weight goes first."
        : "Nobody says how the fleet is shared, so jobs go by priority and number alone."),
      section("Queues and users", table("Shares", [
        ["Queue or user", (s) => h("span", { class: "depth" + Math.min(s.depth ?? 0, 6) }, s.user
          ? link("/jobs?" + new URLSearchParams({ queue: s.queue, owner: s.user }), `user ${s.user}`)
          : link("/jobs?" + new URLSearchParams({ queue: s.queue }), s.queue))],
        ["Weight", (s) => s.weight, "number"],
        ["Entitled", (s) => percent(s.entitled), "number"],
        ["Share", meter, "meter"],
        ["Running", (s) => s.running, "number"],
        ["Waiting", (s) => s.waiting, "number"],
        ["Use", (s) => amounts(s.use), "text"],
        ["Guaranteed", (s) => amounts(s.guaranteed), "text"],
        ["Most", (s) => amounts(s.max), "text"],
        ...(shares.some((s) => s.usage) ? past : []),
      ], shares)),
    ],
  };
}
