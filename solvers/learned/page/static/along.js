// How many edges the graphs along the radius have, above its slider: where something happens.
import { byId, figures } from "./text.js";

const TOP = 14, BARS = 34, BOTTOM = 14, THUMB = 8; // pixels; the slider's thumb stops half its width before the ends
const ROOM = 30; // pixels that a number needs

export function createAlong(data, stops, go) {
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
    const width = holder.clientWidth, bars = stops(eta).map(({ radius: r, key }) => ({ r, key, count: edges(key) }));
    const last = bars.length - 1, now = bars.findIndex(({ r }) => r === radius), height = TOP + BARS + BOTTOM;
    holder.hidden = last <= 0;
    if (holder.hidden || width < 50) return;
    const most = d3.max(bars, ({ count }) => count) || 1;
    const x = d3.scaleLinear([0, last], [THUMB, width - THUMB]), y = d3.scaleLinear([0, most], [TOP + BARS, TOP]);
    const thick = Math.max(2, Math.min(10, (width / (last + 1)) * 0.6));
    const svg = d3.create("svg").attr("class", "along").attr("width", width).attr("height", height);
    const bar = svg.selectAll("rect").data(bars).join("rect")
      .attr("class", ({ r }) => (r === radius ? "now" : r === data.points[data.chosen].radius ? "chosen" : ""))
      .attr("x", (_, k) => x(k) - thick / 2).attr("width", thick)
      .attr("y", ({ count }) => Math.min(y(count), TOP + BARS - 1)).attr("height", ({ count }) => Math.max(TOP + BARS - y(count), 1));
    bar.append("title").text(({ r, key, count }) => `${count} edges${selection(key)} at radius ${figures(data.radii[r], 3)}`);
    // Numbers at both ends and at the current bar, where they do not touch each other.
    const named = [...new Set([now, 0, last])].filter((k, n, all) => all.slice(0, n).every((other) => Math.abs(x(k) - x(other)) >= ROOM));
    const anchor = (k) => (k === 0 ? "start" : k === last ? "end" : "middle"), at = (k) => (k === 0 ? 0 : k === last ? width : x(k));
    const label = (k, base, text) => svg.append("text").attr("x", at(k)).attr("y", base).attr("text-anchor", anchor(k)).text(text);
    for (const k of named) {
      label(k, Math.min(y(bars[k].count), TOP + BARS - 1) - 3, bars[k].count);
      label(k, height - 2, figures(data.radii[bars[k].r], 2));
    }
    svg.on("click", (event) => go(bars[Math.max(0, Math.min(last, Math.round(x.invert(d3.pointer(event)[0]))))].r));
    holder.replaceChildren(svg.node(), caption());
  }
  return draw;
}

function caption() {
  const made = document.createElement("p");
  made.className = "small";
  made.textContent = "Bars: edges of the optimal graph, by radius";
  return made;
}
