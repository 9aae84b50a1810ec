// A graph as things to draw, in pixels, whether as SVG or on a canvas.
import { short } from "./text.js";

const MOST_LABELS = 60;

const MARGIN = 30; // pixels

const BEYOND = 0.12; // of the longer side: how far coasts beyond the vertices are shown

// The vertices and, on a map, the coasts around them.
function frame(data) {
  const box = [d3.extent(data.x), d3.extent(data.y)];
  if (!data.map || data.outlines.length === 0) return box;
  const reach = BEYOND * Math.max(...box.map(([from, to]) => to - from));
  return box.map(([from, to], axis) => {
    const [first, last] = d3.extent(data.outlines.flatMap((ring) => [d3.min(ring, every(axis)), d3.max(ring, every(axis))]));
    return [Math.min(from, Math.max(first, from - reach)), Math.max(to, Math.min(last, to + reach))];
  });
}

const every = (axis) => (value, k) => (k % 2 === axis ? value : undefined);

function extents(data) {
  const [[left, right], [low, high]] = frame(data);
  // A degree of longitude is shorter than one of latitude, away from the equator.
  const middle = (Math.max(-85, Math.min(85, (low + high) / 2)) * Math.PI) / 180;
  const squeeze = data.map ? Math.cos(middle) : 1;
  const spanX = Math.max((right - left) * squeeze, 1e-9), spanY = Math.max(high - low, 1e-9);
  return { left, right, low, high, squeeze, spanX, spanY };
}

// The height at which a picture of this width has nothing to spare.
export function naturalHeight(data, width) {
  const { spanX, spanY } = extents(data);
  return ((width - 2 * MARGIN) * spanY) / spanX + 2 * MARGIN;
}

// Where vertices and outlines are on a picture of this size.
export function fitted(data, width, height) {
  const x = data.x, y = data.y, d = x.length, margin = MARGIN;
  const { left, right, low, high, squeeze, spanX, spanY } = extents(data);
  const scale = Math.min((width - 2 * margin) / spanX, (height - 2 * margin) / spanY);
  const px = (v) => width / 2 + (v - (left + right) / 2) * squeeze * scale;
  const py = (v) => height / 2 - (v - (low + high) / 2) * scale;
  const points = Array.from({ length: d }, (_, i) => [px(x[i]), py(y[i])]);
  const outlines = data.outlines.map((ring) => {
    const path = [];
    for (let k = 0; k < ring.length; k += 2) path.push([px(ring[k]), py(ring[k + 1])]);
    return path;
  });
  return { width, height, points, outlines, tree: d3.quadtree().x((i) => points[i][0]).y((i) => points[i][1]).addAll(d3.range(d)) };
}

const STRONGEST = 3; // edges of a vertex that are drawn where all of them would hide each other

// Of very many edges the strongest of every vertex, and all that touch what was picked.
export function strongest({ point, touching }, shown, d) {
  if (shown.length <= STRONGEST * d + 200) return shown;
  const count = new Uint32Array(d), kept = [];
  for (const e of Array.from(shown).sort((a, b) => point.weights[b] - point.weights[a])) {
    const i = point.heads[e], j = point.tails[e];
    if (count[i] < STRONGEST || count[j] < STRONGEST || touching?.has(i) || touching?.has(j)) kept.push(e);
    count[i]++;
    count[j]++;
  }
  return kept;
}

export const drawnText = (drawn, all) => `${drawn} of ${all} edges drawn: the ${STRONGEST} strongest of each vertex`;

// view: { point, shown and drawn (indices of edges), degree, neighbours (count), fill, picked, focus }
export function scene(data, fit, view) {
  const { point, shown, drawn } = view;
  const largest = d3.max(shown, (e) => point.weights[e]) || 1;
  const size = Math.max(1.5, Math.min(6.5, 80 / Math.sqrt(data.names.length)) * Math.min(1, 0.35 + fit.width / 1000));
  const edges = Array.from(drawn, (e) => {
    const strength = point.weights[e] / largest;
    return {
      e, from: fit.points[point.heads[e]], to: fit.points[point.tails[e]],
      width: 0.5 + 3.2 * strength, opacity: 0.25 + 0.6 * strength,
      dashed: point.undecided[e] === 1, picked: view.isPickedEdge(e),
    };
  }).sort((a, b) => a.picked - b.picked || a.width - b.width);
  const vertices = fit.points.map((at, i) => ({
    i, at, radius: size, fill: view.fill(i), alone: view.neighbours[i] === 0, picked: view.isPickedVertex(i),
  }));
  const every = data.names.length <= MOST_LABELS;
  const labels = vertices.filter(({ i, picked }) => every || picked || view.isNear(i)).map(({ i, at, radius, picked }) => ({ i, at, radius, text: short(data.names[i]), must: +picked, rank: view.neighbours[i] + (view.isNear(i) ? 1e9 : 0) }));
  return { fit, edges, vertices, labels };
}

// The vertex, or else the edge, under a place of the picture; reach is in the picture's pixels.
export function hit(data, current, [x, y], reach) {
  const vertex = current.fit.tree.find(x, y, reach * 1.6);
  if (vertex !== undefined) return { vertex };
  let best = null, least = reach * reach;
  for (const { e, from, to } of current.edges) {
    const dx = to[0] - from[0], dy = to[1] - from[1];
    const length = dx * dx + dy * dy;
    const share = length > 0 ? Math.max(0, Math.min(1, ((x - from[0]) * dx + (y - from[1]) * dy) / length)) : 0;
    const away = (x - from[0] - share * dx) ** 2 + (y - from[1] - share * dy) ** 2;
    if (away < least) { least = away; best = e; }
  }
  return best === null ? null : { edge: best };
}

// The nearest vertex in a direction, for the arrow keys.
export function neighbourTowards(points, from, [dx, dy]) {
  let best = null, least = Infinity;
  points.forEach(([x, y], i) => {
    const ax = x - points[from][0], ay = y - points[from][1];
    const along = ax * dx + ay * dy, across = Math.abs(ax * dy - ay * dx);
    if (i === from || along <= 0 || across > along) return;
    const score = along + 2 * across;
    if (score < least) { least = score; best = i; }
  });
  return best;
}
