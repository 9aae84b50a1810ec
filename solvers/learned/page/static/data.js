// What Python wrote into the page: JSON in which arrays of numbers are base64.

const TYPES = { float64: Float64Array, float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array };

function unpacked({ type, base64 }) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return new TYPES[type](bytes.buffer);
}

export function decode(node) {
  if (Array.isArray(node)) return node.map(decode);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.base64 === "string" && Object.hasOwn(TYPES, node.type)) return unpacked(node);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, decode(value)]));
}

export function readData() {
  return decode(JSON.parse(document.getElementById("data").textContent));
}

// The problem of a point of the path, as the judge takes it.
export function task(data, k) {
  const point = data.points[k];
  const { set, p, prior, trace, rows, rowCount } = data.problem;
  return {
    d: data.names.length, set, p, prior, trace, rows, rowCount,
    radius: data.radii[point.radius], eta: data.etas[point.eta], alpha: point.alpha, beta: point.beta,
    graph: { heads: point.heads, tails: point.tails, weights: point.weights },
    multiplier: point.multiplier, nu: point.nu, moment: point.moment,
  };
}
