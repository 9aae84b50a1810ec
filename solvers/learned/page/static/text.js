// Elements from text, never from markup: whatever a name contains, it is shown and does nothing.

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

export function byId(name) {
  return document.getElementById(name);
}

export function definitions(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

// Zeros at the end are kept in columns, where numbers stand one above the other.
export function figures(value, digits = 4, zeros = false) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(digits - 1);
  return zeros && size < 10 ** digits ? value.toPrecision(digits) : String(Number(value.toPrecision(digits)));
}

// A name as a caption has room for.
export function short(name, most = 40) {
  const letters = Array.from(name);
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`;
}
