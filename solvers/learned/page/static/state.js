// What is looked at, kept in the address of the page, so that a link brings back the same view.

export function readHash(keys) {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(keys.filter((key) => given.has(key)).map((key) => [key, given.get(key)]));
}

// A frame in a notebook has no address of its own.
export const embedded = location.protocol === "about:";

export function writeHash(values) {
  if (embedded) return;
  const kept = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== "") kept.set(key, value);
  }
  history.replaceState(null, "", `#${kept}`);
}

// A whole number within [0, count), or the fallback: links may be old, or made by hand.
export function index(text, count, fallback) {
  const value = Number(text);
  return text !== undefined && text !== "" && Number.isInteger(value) && value >= 0 && value < count ? value : fallback;
}
