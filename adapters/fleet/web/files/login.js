// Who asks: a certificate that the browser shows, or a token that is pasted.

import { get, path, token } from "./api.js";
import { trouble } from "./act.js";
import { h } from "./dom.js";

// whoAmI asks the server; null: nobody that it knows.
export async function whoAmI() {
  try {
    return await get(path("self"));
  } catch (error) {
    if (error.status === 401) return null;
    throw error;
  }
}

// login is the form for a token. Then is called with who it is of.
export function login(then) {
  const problem = h("div", { role: "alert" });
  const field = h("input", {
    id: "token", name: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true,
  });
  const attempt = async (event) => {
    event.preventDefault();
    problem.replaceChildren();
    try {
      const who = await whoAmI();
      if (who) return then(who);
      throw new Error(token.get() ? "This token is not good, or not any more." : "The browser shows no certificate of this fleet.");
    } catch (error) {
      token.remove();
      problem.replaceChildren(trouble(error));
      field.focus();
    }
  };
  return h("form", {
    class: "login",
    onsubmit(event) {
      token.set(field.value.trim());
      return attempt(event);
    },
  },
    h("h1", { tabindex: "-1" }, "Who are you?"),
    h("p", {}, "Paste a token. An operator makes one with: ", h("code", {}, "berth token create NAME")),
    h("label", { for: "token" }, h("span", {}, "Token"), field),
    problem,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Log in"),
      h("button", { type: "button", onclick: attempt }, "Use a certificate")),
    h("p", { class: "hint" }, "The token is kept until this tab is closed. A certificate of the fleet that the browser has needs no token."));
}
