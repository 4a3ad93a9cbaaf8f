// Elements without markup: whatever comes from data is text.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

export const svg = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

export const byId = (id) => document.getElementById(id);

/** Says something to who cannot see it. */
export function say(sentence) {
  byId("said").textContent = sentence;
}

/** A command with a button that copies it. */
export function command(text) {
  const code = h("code", { tabindex: "0" }, text);
  const button = h("button", { type: "button", class: "copy", "aria-label": "Copy the command" }, "copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
      say("Command copied");
    } catch {
      // Without TLS a browser gives no clipboard to pages of other machines.
      getSelection().selectAllChildren(code);
      button.textContent = "selected";
    }
    setTimeout(() => (button.textContent = "copy"), 2000);
  });
  return h("div", { class: "command" }, code, button);
}

/** A table; the first row of cells are headings. */
export function table(caption, headings, rows, numeric = []) {
  const kind = (i) => (numeric.includes(i) ? "number" : null);
  return h("table", null,
    h("caption", { class: "hidden" }, caption),
    h("thead", null, h("tr", null, headings.map((text, i) => h("th", { scope: "col", class: kind(i) }, text)))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map((cell, i) => h("td", { class: kind(i) }, cell))))));
}
