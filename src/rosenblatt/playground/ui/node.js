// Making elements: one function for HTML, one for SVG.

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || (value === false && !key.startsWith("aria-"))) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "text") node.textContent = value;
    else node.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
}

// Say something to a screen reader.
export function announce(text) {
  document.getElementById("status").textContent = text;
}

let timer = 0;

// Show one sentence to everyone; it leaves by itself unless it is an error.
export function tell(text, kind = "note") {
  const box = document.getElementById("message");
  clearTimeout(timer);
  box.className = kind;
  box.replaceChildren(
    html("span", { text }),
    html("button", { "aria-label": "Close the message", text: "×", onclick: () => (box.hidden = true) }),
  );
  box.hidden = false;
  if (kind !== "error") timer = setTimeout(() => (box.hidden = true), 5000);
}
