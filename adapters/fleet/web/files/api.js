// Requests to the server that the page comes from, and who makes them.

const tokenKey = "berth-token";

// Failure is an answer that is no success, or none at all (status 0).
export class Failure extends Error {
  constructor(status, said) {
    super(said.message);
    this.status = status;
    this.code = said.code;
    this.problems = said.problems ?? [];
  }
}

// token is what was pasted, for as long as the tab is open. Without one the browser
// shows the certificate that it has, if any.
export const token = {
  get: () => sessionStorage.getItem(tokenKey),
  set: (text) => sessionStorage.setItem(tokenKey, text),
  remove: () => sessionStorage.removeItem(tokenKey),
};

// path puts parts into a path, each as one segment.
export function path(...parts) {
  return "/v1/" + parts.map(encodeURIComponent).join("/");
}

// send sends a request and gives back a success as it comes.
export async function send(method, where, { query, body, signal } = {}) {
  const parameters = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value !== "" && value != null));
  const headers = {};
  if (token.get()) headers.Authorization = "Bearer " + token.get();
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(parameters.size ? `${where}?${parameters}` : where, {
      method, headers, signal, body: body && JSON.stringify(body), cache: "no-store", redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, { message: "The server does not answer." });
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let said;
  try {
    said = JSON.parse(text);
  } catch {
    said = {};
  }
  throw new Failure(answer.status, said?.message ? said : { message: `The server answered ${answer.status}. ${text.slice(0, 200)}` });
}

// get asks for something.
export async function get(where, query, signal) {
  return (await send("GET", where, { query, signal })).json();
}

// all gathers all pages of a list.
export async function all(where, list, signal) {
  const out = [];
  for (let after = ""; ;) {
    const page = await get(where, { limit: 1000, after }, signal);
    out.push(...page[list]);
    after = page.after;
    if (!after) return out;
  }
}

// texts reads an answer piece by piece, as text. It tells count how many bytes each piece has.
export async function* texts(answer, count = () => {}) {
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    const text = decoder.decode(value, { stream: !done });
    count(value?.length ?? 0);
    if (text) yield text;
    if (done) return;
  }
}

// lines reads an answer of lines of JSON, in bundles as they come.
export async function* lines(answer) {
  let rest = "";
  for await (const text of texts(answer)) {
    const whole = (rest + text).split("\n");
    rest = whole.pop();
    yield whole.filter(Boolean).map((line) => JSON.parse(line));
  }
}
