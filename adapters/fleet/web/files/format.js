// Amounts and times for people, as the command line shows them.

const hidden = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

// visible is the text with all characters that cannot be shown written as escapes:
// those that control terminals, and those that turn the direction of writing.
export function visible(text) {
  return text.replace(hidden, (c) => {
    const code = c.codePointAt(0);
    if (code >= 0x07 && code <= 0x0d) return "\\" + "abtnvfr"[code - 0x07];
    if (code < 0x80) return "\\x" + code.toString(16).padStart(2, "0");
    if (code < 0x10000) return "\\u" + code.toString(16).padStart(4, "0");
    return "\\U" + code.toString(16).padStart(8, "0");
  });
}

// visibleLines is visible for a text of several lines, with tabs.
export function visibleLines(text) {
  return text.replace(/[^\n\t]+/g, visible);
}

// clock is a number of seconds as batch systems print it: "1-02:03:04", "02:03:04", "03:04".
export function clock(seconds) {
  const s = Math.floor(Math.max(seconds, 0));
  const two = (n) => String(n).padStart(2, "0");
  const days = Math.floor(s / 86400), hours = Math.floor(s / 3600) % 24;
  const rest = two(Math.floor(s / 60) % 60) + ":" + two(s % 60);
  if (days > 0) return `${days}-${two(hours)}:${rest}`;
  return hours > 0 ? `${two(hours)}:${rest}` : rest;
}

// elapsed is the time from start to end, or to now where it has not ended.
export function elapsed(start, end) {
  if (!start) return "-";
  return clock(((end ? Date.parse(end) : Date.now()) - Date.parse(start)) / 1000);
}

// stamp is a time in the zone of who looks.
export function stamp(time) {
  if (!time) return "-";
  const t = new Date(time);
  const two = (n) => String(n).padStart(2, "0");
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ` +
    `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
}

const units = {
  "": 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

// bytes is the number that an amount of the servers stands for.
export function bytes(amount) {
  const [, number, unit] = /^([\d.]+)([A-Za-z]*)$/.exec(amount ?? "0");
  return Number(number) * units[unit];
}

// shortBytes is a number of bytes in three digits or four.
export function shortBytes(n) {
  if (n < 1024) return String(n);
  let i = -1;
  while (n >= 1024 && i < 5) {
    n /= 1024;
    i++;
  }
  return n.toFixed(n >= 100 ? 0 : 1).replace(/\.0$/, "") + "KMGTPE"[i] + "i";
}

// cores is a number of cores, or of whole devices: at most three digits after the point.
export function cores(n) {
  return String(Math.round(n * 1000) / 1000);
}

// plural is a number of things.
export function plural(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

// sum adds up what each of a list has.
export function sum(list, of) {
  return list.reduce((total, one) => total + of(one), 0);
}
