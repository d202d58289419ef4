// The view of what a task has written.

import { get, path, send, texts } from "./api.js";
import { h, onPage } from "./dom.js";
import { visibleLines } from "./format.js";
import { heading } from "./jobs.js";
import { input, picker, select } from "./parts.js";

// tail is how many bytes of the end are asked for first; most is how many characters
// the page keeps.
const tail = 64 << 10;
const most = 1 << 20;

// again is the pause before a log that broke off is read again, in milliseconds.
const again = 2000;

// log is the view. It follows the log while the task runs.
export function log([id], query) {
  const number = (label, name) => input(label, name, query[name], { type: "number", min: 0, inputmode: "numeric" });
  return {
    title: `Job ${id}, log`,
    load: (signal) => get(path("jobs", id), {}, signal),
    show: (j) => [
      heading(j, "log"),
      picker("Which log", `/jobs/${id}/log`, query, [
        j.array && number("Element", "element"), number("Attempt", "attempt"), j.tasks > 1 && number("Task", "rank"),
        select("Stream", "stream", query.stream, [["", "stdout"], ["stderr", "stderr"]]),
        select("From", "from", query.from, [["", "near the end"], ["start", "the start"]]),
        select("Follow", "follow", query.follow, [["", "yes"], ["no", "no"]]),
      ]),
      h("pre", { id: "log", class: "log", role: "log", tabindex: "0", "aria-label": "Log", "aria-live": "off", "data-keep": true }),
      h("p", { id: "log-end", class: "hint", role: "status", "data-keep": true }, "Reading …"),
    ],
    async start(signal) {
      const { from, follow, ...which } = query;
      const asked = { ...which, follow: follow !== "no", ...(from === "start" ? { limit: most } : { offset: -tail }) };
      const say = (text) => (onPage("log-end").textContent = text);
      while (!signal.aborted) {
        try {
          return say(await read(id, asked, say, signal));
        } catch (error) {
          if (signal.aborted) return;
          if (error.status >= 400 && error.status < 500 && error.status !== 429) return say(error.message);
          say(`${error.status ? error.message : "The log broke off."} It is read again in a moment.`);
        }
        await new Promise((go) => setTimeout(go, again));
      }
    },
  };
}

// read reads a log to its end, and returns what there is to say about it then.
async function read(id, asked, say, signal) {
  const answer = await send("GET", path("jobs", id, "logs"), { query: asked, signal });
  say(asked.follow ? "Following …" : "Reading …");
  onPage("log").replaceChildren();
  const write = writer(onPage("log"));
  let bytes = 0;
  for await (const text of texts(answer, (more) => (bytes += more))) write(text);
  write("", true);
  const dropped = asked.offset ? 0 : Number(answer.headers.get("Berth-Log-Offset"));
  const gone = dropped > 0 ? `The first ${dropped} bytes are not kept.` : "";
  if (bytes === asked.limit) return `There may be more after these ${bytes} bytes: "berth logs ${id}" shows all. ${gone}`;
  if (bytes === 0 && !gone) return "Nothing was written.";
  return `This is the end of the log. ${gone}`;
}

// writer appends to an element, which follows its end while it is there, and loses
// its beginning when it has become too long.
function writer(to) {
  const tame = tamer();
  let length = 0;
  return (text, last) => {
    const atEnd = to.scrollTop + to.clientHeight >= to.scrollHeight - 8;
    const clean = tame(text, last);
    to.append(clean);
    length += clean.length;
    while (length > most && to.childNodes.length > 1) {
      length -= to.firstChild.length;
      to.firstChild.remove();
    }
    if (atEnd) to.scrollTop = to.scrollHeight;
  };
}

// tamer leaves colours out of a text that comes in pieces, and makes other controls
// visible. What may be the beginning of a colour, or of the end of a line, waits for
// the rest, unless the piece is the last.
export function tamer() {
  let rest = "";
  return (text, last) => {
    text = rest + text;
    rest = last ? "" : (/(\x1b(\[[\d;:]{0,32})?|\r)$/.exec(text)?.[0] ?? "");
    text = text.slice(0, text.length - rest.length);
    return visibleLines(text.replace(/\x1b\[[\d;:]{0,32}m/g, "").replace(/\r\n?/g, "\n"));
  };
}
