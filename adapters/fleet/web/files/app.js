// The page: which view is shown, and when it is brought up to date.

import { trouble } from "./act.js";
import { token } from "./api.js";
import { h, onPage, patch } from "./dom.js";
import { events } from "./events.js";
import { explain } from "./explain.js";
import { stamp } from "./format.js";
import { job, jobs, spec } from "./jobs.js";
import { log } from "./log.js";
import { login, whoAmI } from "./login.js";
import { cluster, node, nodes } from "./nodes.js";
import { shares } from "./shares.js";
import { timeline } from "./timeline.js";

// A view is a function of the parts of its route and its query. What it returns has
//   title   for the window
//   load    asks the servers; it is called again and again unless the view is still
//   show    the elements for what load returned
//   start   (if any) runs while the view is shown, from when it is there
const routes = [
  [/^\/$/, cluster],
  [/^\/nodes$/, nodes],
  [/^\/nodes\/([^/]+)$/, node],
  [/^\/jobs$/, jobs],
  [/^\/jobs\/(\d+)$/, job],
  [/^\/jobs\/(\d+)\/explain$/, explain],
  [/^\/jobs\/(\d+)\/log$/, log],
  [/^\/jobs\/(\d+)\/spec$/, spec],
  [/^\/shares$/, shares],
  [/^\/timeline$/, timeline],
  [/^\/events$/, events],
];

// every is the pause between two looks, in milliseconds.
const every = 5000;

let leave = new AbortController(); // of the view that is shown

// here is the view that the address says.
function here() {
  const [where, query] = (location.hash.slice(1) || "/").split("?");
  for (const [pattern, view] of routes) {
    const parts = pattern.exec(where)?.slice(1).map(decoded);
    if (parts) return view(parts, Object.fromEntries(new URLSearchParams(query)));
  }
  return {
    title: "Nothing here", still: true, load: async () => null,
    show: () => [h("h1", { tabindex: "-1" }, "There is nothing here"), h("p", {}, "Go to the ", h("a", { href: "#/" }, "cluster"), ".")],
  };
}

// decoded is a part of a route; one that is not well encoded is taken as it is.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// open shows the view of the address until another one is opened.
async function open() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const view = here();
  document.title = `${view.title} - Berth`;
  onPage("question").close();
  onPage("problem").replaceChildren();
  for (const a of onPage("nav").children) {
    const to = a.getAttribute("href").slice(1), at = location.hash.slice(1).split("?")[0] || "/";
    if (at === to || to !== "/" && at.startsWith(to + "/")) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  for (let first = true; !signal.aborted; ) {
    if (await look(view, signal, first)) {
      first = false;
      if (view.still) return;
    }
    await pause(signal);
  }
}

// look brings the view up to date, and reports whether it could.
async function look(view, signal, first) {
  try {
    const data = await view.load(signal);
    if (signal.aborted) return false;
    const main = h("main", { id: "main", tabindex: "-1" }, view.show(data));
    if (first) onPage("main").replaceChildren(...main.childNodes);
    else patch(onPage("main"), main);
    onPage("problem").replaceChildren();
    onPage("freshness").textContent = view.still ? "" : "As of " + stamp(Date.now());
    if (first) {
      onPage("main").querySelector("h1")?.focus({ preventScroll: true });
      scrollTo(0, 0);
      view.start?.(signal).catch((error) => failed(error, signal));
    }
    return true;
  } catch (error) {
    failed(error, signal);
    return false;
  }
}

// failed shows an error, and asks who the user is where the server does not know.
function failed(error, signal) {
  if (signal.aborted) return;
  if (error.status === 401) {
    ask();
    return;
  }
  onPage("problem").replaceChildren(trouble(error));
}

// pause waits until the next look is due and somebody sees the page, or something
// was done.
function pause(signal) {
  return new Promise((go) => {
    const done = new AbortController();
    const end = () => {
      clearTimeout(timer);
      done.abort();
      go();
    };
    let due = false;
    const timer = setTimeout(() => {
      due = true;
      if (!document.hidden) end();
    }, every);
    document.addEventListener("visibilitychange", () => due && !document.hidden && end(), { signal: done.signal });
    addEventListener("berth-changed", end, { signal: done.signal });
    signal.addEventListener("abort", end, { signal: done.signal });
  });
}

// ask shows the form for a token.
function ask() {
  leave.abort();
  token.remove();
  onPage("nav").hidden = true;
  onPage("who").replaceChildren();
  onPage("freshness").textContent = "";
  document.title = "Log in - Berth";
  onPage("main").replaceChildren(login(enter));
  onPage("token").focus();
}

// enter shows the views to somebody who is known.
function enter(who) {
  onPage("nav").hidden = false;
  onPage("who").replaceChildren(h("span", { title: who.role }, `${who.name} (${who.role})`),
    token.get() ? h("button", { type: "button", onclick: ask }, "Log out") : "");
  open();
}

// begin finds out who looks.
async function begin() {
  try {
    const who = await whoAmI();
    if (who) enter(who);
    else ask();
  } catch (error) {
    onPage("problem").replaceChildren(trouble(error));
    setTimeout(begin, every);
  }
}

addEventListener("hashchange", () => !onPage("nav").hidden && open());
onPage("skip").onclick = (event) => {
  event.preventDefault();
  onPage("main").focus();
};
begin();
