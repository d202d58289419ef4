// What users may do to jobs, with a question before.

import { path, send } from "./api.js";
import { h, onPage } from "./dom.js";
import { plural, sum } from "./format.js";
import { input } from "./parts.js";

const doings = {
  cancel: { button: "Cancel", done: "cancelled", says: "What runs is ended, what waits never starts." },
  hold: { button: "Hold", done: "held", says: "What waits does not start until it is released. What runs goes on." },
  release: { button: "Release", done: "released", says: "What was held may start." },
  requeue: { button: "Requeue", done: "requeued", says: "What runs is ended and waits again, as does what has ended." },
};

// possible are the actions that can change a job as it stands.
function possible(j) {
  const waiting = j.counts.PENDING ?? 0;
  const active = sum(["STARTING", "RUNNING", "COMPLETING"], (name) => j.counts[name] ?? 0);
  const held = j.reason?.startsWith("JobHeld");
  return [
    waiting + active > 0 && "cancel",
    waiting > 0 && !held && "hold",
    waiting > 0 && (held || j.array) && "release",
    j.elements > waiting && "requeue",
  ].filter(Boolean);
}

// actions are the buttons of a job.
export function actions(j) {
  return h("div", { class: "actions", role: "group", "aria-label": "Actions" }, possible(j).map((name) =>
    h("button", { type: "button", class: name === "cancel" && "danger", onclick: () => question(j, name) }, doings[name].button)));
}

// question asks before anything is done.
function question(j, name) {
  const { button, done, says } = doings[name];
  const dialog = onPage("question");
  const problem = h("div", { role: "alert" });
  const yes = h("button", { type: "submit", class: name === "cancel" && "danger" }, `${button} it`);
  const form = h("form", {
    async onsubmit(event) {
      event.preventDefault();
      yes.disabled = true;
      try {
        const chosen = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
        const answer = await send("POST", path("jobs", j.id, name), { body: chosen });
        const { elements } = await answer.json();
        dialog.close();
        say(`Job ${j.id}: ${plural(elements, "element")} ${done}.`);
        dispatchEvent(new Event("berth-changed"));
      } catch (error) {
        problem.replaceChildren(trouble(error));
      } finally {
        yes.disabled = false;
      }
    },
  },
    h("h2", { id: "question-title" }, `${button} job ${j.id}?`),
    h("p", {}, h("strong", {}, j.name), j.array ? `, ${plural(j.elements, "element")}. ` : ". ", says),
    j.array && input("Elements, for example 3,10-19 (none: all)", "elements", ""),
    input("Reason", "reason", "", { maxlength: 1024 }),
    problem,
    h("div", { class: "buttons" }, yes, h("button", { type: "button", onclick: () => dialog.close() }, "Leave it")));
  dialog.replaceChildren(form);
  dialog.showModal();
}

// trouble shows an error, with all that the server says is wrong.
export function trouble(error) {
  return h("div", { class: "trouble" }, h("strong", {}, error.message),
    error.problems?.length > 0 && h("ul", {}, error.problems.map((p) =>
      h("li", {}, p.field && [h("code", {}, p.field), ": "], p.message))));
}

// say shows a message for a while.
export function say(text) {
  const said = onPage("said");
  said.replaceChildren(h("p", {}, text));
  setTimeout(() => said.firstChild?.textContent === text && said.replaceChildren(), 8000);
}
