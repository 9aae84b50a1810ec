// How many edges the graphs along the radius have, above its slider: where something happens.
import { byId } from "./text.js";

const HEIGHT = 34, THUMB = 8; // pixels; the slider's thumb stops half its width before the ends

export function createAlong(data, places, go) {
  const holder = byId("along"), counts = new Map();
  const edges = (key) => {
    if (!counts.has(key)) counts.set(key, d3.sum(data.points[key].weights, (w) => +(w > 0 && w >= data.threshold)));
    return counts.get(key);
  };
  // Only the chosen graph has one; bars count all edges, so that they can be compared.
  const selection = (key) => {
    const { weights, selected } = data.points[key];
    return selected ? `, ${d3.sum(weights, (w, e) => +(w > 0 && w >= data.threshold && selected[e] === 1))} of them selected` : "";
  };
  function draw({ radius, eta }) {
    const width = holder.clientWidth, last = data.radii.length - 1;
    holder.hidden = last === 0;
    if (holder.hidden || width < 50) return;
    const bars = data.radii.map((_, k) => places.get(`${k},${eta}`)).map((key, k) => ({ k, key, count: key === undefined ? null : edges(key) }));
    const most = d3.max(bars, ({ count }) => count) || 1;
    const x = d3.scaleLinear([0, last], [THUMB, width - THUMB]), y = d3.scaleLinear([0, most], [HEIGHT, 3]);
    const thick = Math.max(2, Math.min(10, (width / (last + 1)) * 0.6));
    const svg = d3.create("svg").attr("class", "along").attr("width", width).attr("height", HEIGHT);
    const bar = svg.selectAll("rect").data(bars.filter(({ count }) => count !== null)).join("rect")
      .attr("class", ({ k }) => (k === radius ? "now" : k === data.points[data.chosen].radius ? "chosen" : ""))
      .attr("x", ({ k }) => x(k) - thick / 2).attr("width", thick)
      .attr("y", ({ count }) => Math.min(y(count), HEIGHT - 1)).attr("height", ({ count }) => Math.max(HEIGHT - y(count), 1));
    bar.append("title").text(({ key, count }) => `${count} edges${selection(key)}`);
    svg.on("click", (event) => go(Math.max(0, Math.min(last, Math.round(x.invert(d3.pointer(event)[0]))))));
    holder.replaceChildren(svg.node());
  }
  return draw;
}
