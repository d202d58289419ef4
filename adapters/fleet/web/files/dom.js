// Elements, and how they are brought up to date.

import { visible, visibleLines } from "./format.js";

// h makes an element. Attributes that begin with "on" are handlers; those that are
// null or false are left out. Children are elements, lists of them, or text: what
// the servers say only ever becomes text.
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element[name] = value;
    else element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  for (const child of children.flat(Infinity)) {
    if (child == null || child === false) continue;
    element.append(child instanceof Node ? child : visible(String(child)));
  }
  return element;
}

// svg makes an element of a drawing. The one on the page says what kind of element that is.
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(onPage("drawing").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, visible(String(value)));
  for (const child of children.flat(Infinity)) element.append(child instanceof Node ? child : visible(String(child)));
  return element;
}

// lines is a text of several lines, for a pre.
export function lines(text) {
  return document.createTextNode(visibleLines(text));
}

const handlers = ["onclick", "onsubmit", "onchange"];

// patch makes an element like another one. What is the same stays as it is, so that
// focus, selection, scrolling and what was typed survive an update. Elements with
// the attribute data-keep are their own masters once they are there.
export function patch(have, want) {
  if (have.nodeType === Node.TEXT_NODE) {
    if (have.data !== want.data) have.data = want.data;
    return;
  }
  if (have.hasAttribute("data-keep")) return;
  for (const { name } of [...have.attributes]) {
    if (!want.hasAttribute(name) && !(name === "open" && have.tagName === "DETAILS")) have.removeAttribute(name);
  }
  for (const { name, value } of want.attributes) {
    if (have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
  for (const name of handlers) have[name] = want[name];
  const wanted = [...want.childNodes];
  wanted.forEach((child, i) => {
    const there = have.childNodes[i];
    if (!there) have.append(child);
    else if (same(there, child)) patch(there, child);
    else there.replaceWith(child);
  });
  while (have.childNodes.length > wanted.length) have.lastChild.remove();
}

// same says whether one can be made into the other.
function same(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id ?? "") === (b.id ?? "");
}

// onPage is the element of an id.
export function onPage(id) {
  return document.getElementById(id);
}
