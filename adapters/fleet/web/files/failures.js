// What keeps a job from starting: the words for it, and repetitions as one line.

import { stamp } from "./format.js";
import { exit, nodeLinks, section, state, table } from "./parts.js";

// maxCell is how many characters a text has at most that is one column of many.
const maxCell = 60;

// shortText is a text, or its beginning where it is long.
export function shortText(text) {
  const characters = [...text];
  return characters.length > maxCell ? characters.slice(0, maxCell - 3).join("") + "..." : text;
}

// waits says in few words why a job waits, with the failure before a pause.
export function waits(j) {
  return j.reason === "Backoff" && j.message ? shortText(`${j.reason}: ${j.message}`) : j.reason;
}

// until is the reason why something waits, with the moment when it is tried again.
export function until({ reason, eligible }, words = " until ") {
  return reason && eligible && Date.parse(eligible) > Date.now() ? reason + words + stamp(eligible) : reason;
}

// failures shows what several attempts have in common that never ran.
export function failures(list) {
  return list && section("Attempts that never ran", table("Attempts that never ran", [
    ["Attempts", (f) => f.attempts, "number"], ["State", (f) => state(f.state)], ["Exit", (f) => exit(f.exit)],
    ["Elements", (f) => shortText(f.elements)], ["Nodes", (f) => f.nodes && nodeLinks(f.nodes), "text"], ["Note", (f) => f.message, "text"],
  ], list));
}

// groupWaiting puts together the elements without tasks that wait for the same, in the
// place of the first of them: { e, indexes }, where e is tried next.
export function groupWaiting(elements) {
  const groups = new Map(), out = [];
  for (const e of elements) {
    const key = JSON.stringify([e.state, e.reason, e.message]);
    const group = e.tasks ? undefined : groups.get(key);
    if (group) {
      group.indexes.push(e.index);
      if ((e.eligible ?? "") < (group.e.eligible ?? "")) group.e = e;
      continue;
    }
    out.push({ e, indexes: [e.index] });
    if (!e.tasks) groups.set(key, out.at(-1));
  }
  return out;
}

// waitingNote says what such elements wait for, and until when the first of them does.
export function waitingNote({ e, indexes }) {
  const reason = until(e, indexes.length > 1 ? ", the first until " : " until ");
  return [reason, e.reason === "Backoff" && e.message].filter(Boolean).join(": ") || null;
}

// ranges writes ascending indices as ranges: "0-2,5".
export function ranges(indexes) {
  const out = [];
  for (const i of indexes) {
    const last = out.at(-1);
    if (last && last[1] + 1 === i) last[1] = i;
    else out.push([i, i]);
  }
  return out.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(",");
}
