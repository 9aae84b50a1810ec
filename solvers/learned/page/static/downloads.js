// The graph that is shown, as files: edges, GraphML, arrays, pictures.
import { element } from "./text.js";
import { npz, numbers, strings } from "./zip.js";

const MOST_DENSE = 2000; // vertices; of larger graphs the arrays are the list of edges

function save(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function csv(data, { point, shown }) {
  const lines = Array.from(shown).sort((a, b) => point.weights[b] - point.weights[a])
    .map((e) => `${cell(data.names[point.heads[e]])},${cell(data.names[point.tails[e]])},${point.weights[e]}`);
  return new Blob([["source,target,weight", ...lines, ""].join("\n")], { type: "text/csv" });
}

function graphml(data, { point, shown }) {
  const space = "http://graphml.graphdrawing.org/xmlns";
  const made = document.implementation.createDocument(space, "graphml");
  const add = (parent, tag, attributes, text) => {
    const node = parent.appendChild(made.createElementNS(space, tag));
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const root = made.documentElement;
  add(root, "key", { id: "w", for: "edge", "attr.name": "weight", "attr.type": "double" });
  add(root, "key", { id: "c", for: "node", "attr.name": "community", "attr.type": "long" });
  const graph = add(root, "graph", { edgedefault: "undirected" });
  data.names.forEach((name, i) => add(add(graph, "node", { id: name }), "data", { key: "c" }, data.community[i] + 1));
  for (const e of shown) {
    add(add(graph, "edge", { source: data.names[point.heads[e]], target: data.names[point.tails[e]] }), "data", { key: "w" }, point.weights[e]);
  }
  const text = `<?xml version="1.0" encoding="utf-8"?>\n${new XMLSerializer().serializeToString(made)}\n`;
  return new Blob([text], { type: "application/xml" });
}

// All weights, also those below the threshold: these arrays are what was judged.
function arrays(data, { point }) {
  const d = data.names.length, names = strings(data.names);
  if (d > MOST_DENSE) {
    return npz({ heads: numbers(point.heads), tails: numbers(point.tails), weights: numbers(point.weights), names });
  }
  const laplacian = new Float64Array(d * d);
  for (let e = 0; e < point.weights.length; e++) {
    const i = point.heads[e], j = point.tails[e], weight = point.weights[e];
    laplacian[i * d + j] -= weight;
    laplacian[j * d + i] -= weight;
    laplacian[i * d + i] += weight;
    laplacian[j * d + j] += weight;
  }
  return npz({ laplacian: numbers(laplacian, [d, d]), names });
}

export function offerDownloads(holder, data, picture, shownNow) {
  const files = {
    "edges.csv": () => csv(data, shownNow()),
    "graph.graphml": () => graphml(data, shownNow()),
    "laplacian.npz": () => arrays(data, shownNow()),
    "graph.svg": () => new Blob([picture.svgText()], { type: "image/svg+xml" }),
    "graph.png": () => picture.pngBlob(),
  };
  for (const [name, make] of Object.entries(files)) {
    const label = name.split(".")[1].toUpperCase().replace("GRAPHML", "GraphML");
    holder.append(element("button", { type: "button", "data-file": name, onclick: async () => save(name, await make()) }, label));
  }
}
