// The curves of a comparison: what is drawn for a measure, and the figure.
import { figures, short } from "./text.js";

const MEASURES = {
  time: { label: "CPU seconds", unit: " CPU s", of: (run) => run.total_s, stop: "time-out" },
  ratio: { label: "CPU time relative to the fastest of ours", unit: " times ours", of: (run) => run.total_s, stop: "time-out" },
  memory: { label: "peak memory (MiB)", unit: " MiB", of: (run) => run.peak_mb, stop: "out of memory" },
  gap: { label: "judged relative gap", unit: "", of: (run) => (run.gap > 0 ? run.gap : null), stop: null },
};
const STOPS = {
  "time-out": { limit: (run) => run.limit_s, text: (run) => `> ${figures(run.limit_s)} s` },
  "out of memory": { limit: (run) => run.limit_mb, text: (run) => `out of ${figures(run.limit_mb / 1024)} GiB` },
};
const ACCURATE = 1e-3; // above this gap a method that stops by its own rule has hollow markers
const OURS = "our solvers";
const LETTER = 0.56; // mean width of a letter, in font sizes
const NARROW = 600; // pixels

const place = ({ d, seed }) => `${d} ${seed}`;

// A run counts when the judge accepts it, or when it ended by its own rule.
const isDone = (run, methods) => run.solved || (methods.get(run.method).own_rule && run.outcome === "ok");

// What a run is divided by: one, or for ratios the fastest of our own solvers on the same data.
function divisor(runs, measure, methods) {
  if (measure !== "ratio") return () => 1;
  const ours = runs.filter((run) => run.solved && methods.get(run.method).family === OURS);
  const fastest = d3.rollup(ours, (part) => d3.min(part, MEASURES.ratio.of), place);
  return (run) => fastest.get(place(run)) ?? null;
}

const divided = (value, by) => (value === null || by === null ? null : value / by);

// One point per method and size, the median over data sets.
function medians(runs, of, methods) {
  const summary = (part) => ({ y: d3.median(part, of), gap: d3.median(part, ({ gap }) => gap ?? Infinity), count: part.length });
  const groups = d3.rollups(runs.filter((run) => isDone(run, methods) && of(run) !== null), summary, ({ method }) => method, ({ d }) => d);
  return groups.flatMap(([method, sizes]) => sizes.map(([d, found]) => ({ method, d, ...found, rough: methods.get(method).own_rule && found.gap > ACCURATE }))).sort((a, b) => a.d - b.d);
}

// Where methods hit a limit: at the limit if it is of what is measured, otherwise at the height of the curve so far.
function stops(runs, points, measure, by) {
  const top = d3.max(points, ({ y }) => y) ?? 1;
  const last = d3.rollup(points, (part) => part.at(-1).y, ({ method }) => method);
  const height = (run) => (run.outcome === MEASURES[measure].stop ? divided(STOPS[run.outcome].limit(run), by(run)) : null) ?? last.get(run.method) ?? top;
  const one = ([run]) => ({ method: run.method, d: run.d, y: height(run), text: STOPS[run.outcome].text(run) });
  const groups = d3.rollups(runs.filter(({ outcome }) => outcome in STOPS), one, ({ method }) => method, ({ d }) => d, ({ outcome }) => outcome);
  return groups.flatMap(([, sizes]) => sizes.flatMap(([, outcomes]) => outcomes.map(([, mark]) => mark)));
}

// Ratios are to the fastest of ours, shown or not.
export function curves(runs, measure, methods, isShown) {
  const by = divisor(runs, measure, methods);
  const shown = runs.filter(({ method }) => isShown(method));
  const points = medians(shown, (run) => divided(MEASURES[measure].of(run), by(run)), methods);
  return { points, marks: stops(shown, points, measure, by), measure };
}

// The sizes that have room on a logarithmic axis of so many pixels, the first and the last among them.
function spaced(sizes, pixels, apart = 28) {
  const length = Math.log(sizes.at(-1) / sizes[0]) || 1;
  const at = (d) => (pixels * Math.log(d / sizes[0])) / length;
  const kept = [];
  for (const d of sizes) if (!kept.length || at(d) - at(kept.at(-1)) >= apart) kept.push(d);
  if (kept.at(-1) !== sizes.at(-1)) kept.splice(-1, 1, sizes.at(-1));
  return kept;
}

// A little more than what is drawn, and whole powers of ten within it.
function heights(values) {
  const [low, high] = d3.extent(values);
  if (!(low > 0)) return { domain: [0.1, 10], ticks: [0.1, 1, 10] };
  const domain = [low / 1.5, high * 1.8];
  const powers = d3.range(Math.ceil(Math.log10(domain[0])), Math.floor(Math.log10(domain[1])) + 1).map((k) => 10 ** k);
  return { domain, ticks: powers.length > 1 ? powers : undefined };
}

// Words in lines of so many letters.
function lines(words, letters) {
  const found = [""];
  for (const word of words.split(" ")) {
    const longer = `${found.at(-1)} ${word}`.trim();
    if (longer.length <= letters || !found.at(-1)) found[found.length - 1] = longer;
    else found.push(word);
  }
  return found.map((line) => short(line, letters));
}

// Move items apart vertically: each as close to its place `at` as order, heights and the frame allow.
function spread(items, low, high) {
  const sorted = d3.sort(items, ({ at }) => at);
  let edge = low;
  for (const item of sorted) {
    item.top = Math.max(item.at - item.height / 2, edge);
    edge = item.top + item.height;
  }
  edge = high;
  for (const item of sorted.reverse()) {
    item.top = Math.min(item.top, edge - item.height);
    edge = item.top;
  }
  return sorted;
}

// How the labels at the ends of curves are set: font, margin, and their text in lines.
function labelling(methods, width) {
  const font = width < NARROW ? 10 : 12;
  const longest = d3.max(methods, ({ words }) => words.length) ?? 0;
  const margin = Math.min(0.36 * width, longest * LETTER * font + 30);
  const letters = Math.floor((margin - 22) / (LETTER * font));
  return { font, margin, left: width < NARROW ? 42 : 60, line: font * 1.15, text: new Map(methods.map(({ name, words }) => [name, lines(words, letters)])) };
}

export function figure({ points, marks, measure }, methods, width, target, ink) {
  const style = new Map(methods.map((method) => [method.name, method]));
  const { label, unit } = MEASURES[measure];
  const drawn = [...marks, ...points]; // where a size has both, the curve ends at its point
  const ends = d3.rollup(d3.sort(drawn, ({ d }) => d), (part) => part.at(-1), ({ method }) => method);
  const set = labelling(methods.filter(({ name }) => ends.has(name)), width);
  const needed = d3.sum(set.text.values(), (text) => text.length * set.line + 4) + 60;
  const sizes = d3.sort(new Set(drawn.map(({ d }) => d)));
  const title = ({ method, d, y, gap, count }) => `${style.get(method).words}, d = ${d}: ${figures(y, 3)}${unit}${style.get(method).own_rule && measure !== "gap" ? `, judged gap ${figures(100 * gap, 2)} %` : ""}${count > 1 ? `, median of ${count} data sets` : ""}`;
  const look = { x: "d", y: "y", stroke: ({ method }) => style.get(method).colour, symbol: ({ method }) => style.get(method).symbol, r: 4, title };
  const isGap = measure === "gap";
  const inView = drawn.map(({ y }) => y);
  const plot = Plot.plot({
    className: "plot", width, height: Math.max(needed, Math.min(460, Math.max(300, width * 0.55))), marginLeft: set.left, marginRight: set.margin, insetLeft: 14, insetRight: marks.length ? 3.5 * set.font : 14, insetTop: marks.length ? 2 * set.font : 0, grid: true,
    ariaLabel: `${label} against the number of vertices`,
    x: { type: "log", label: "vertices d", labelAnchor: "center", ticks: sizes.length ? spaced(sizes, width - set.left - set.margin - 4.5 * set.font) : [], tickFormat: (d) => String(d), domain: sizes.length > 1 ? d3.extent(sizes) : sizes.length ? [sizes[0] / 2, sizes[0] * 2] : [1, 10] },
    y: { type: "log", label, tickFormat: (value) => figures(value, 1), ...heights(isGap ? [...inView, target] : inView) },
    color: { type: "identity" },
    symbol: { type: "identity" },
    marks: [
      isGap ? Plot.ruleY([target], { stroke: "currentColor", strokeDasharray: "3 3" }) : null,
      ...methods.map(({ name, colour: stroke, dash }) => Plot.line(points.filter(({ method }) => method === name), { x: "d", y: "y", stroke, strokeDasharray: dash || null, strokeWidth: 1.8 })),
      Plot.dot(points.filter(({ rough }) => !rough), { ...look, fill: look.stroke, stroke: null }),
      Plot.dot(points.filter(({ rough }) => rough), { ...look, fill: "var(--card)", strokeWidth: 1.5 }),
    ],
  });
  const pixels = { x: plot.scale("x").apply, y: plot.scale("y").apply, right: width - set.margin, bottom: Number(plot.getAttribute("height")) - 34 };
  drawStops(d3.select(plot), { points, marks }, style, pixels, set, ink);
  drawEnds(d3.select(plot), ends, style, pixels, set, ink);
  return plot;
}

const halo = (text) => text.attr("stroke", "var(--card)").attr("stroke-width", 3).attr("stroke-linejoin", "round").attr("paint-order", "stroke");

// Limits as text at their size, written once for all methods that hit one there; a dotted line continues each curve to it.
function drawStops(svg, { points, marks }, style, { x, y }, { font }, ink) {
  const last = d3.rollup(points, (part) => part.at(-1), ({ method }) => method);
  const layer = svg.append("g").attr("aria-label", "limits").attr("font-size", font).attr("text-anchor", "middle");
  for (const { method, d, y: height } of marks.filter((mark) => last.get(mark.method)?.d < mark.d)) {
    const from = last.get(method);
    layer.append("line").attr("x1", x(from.d)).attr("y1", y(from.y)).attr("x2", x(d)).attr("y2", y(height)).attr("stroke", style.get(method).colour).attr("stroke-dasharray", "1 4").attr("stroke-linecap", "round").attr("stroke-width", 1.5);
  }
  const placed = [];
  for (const [, alike] of d3.groups(d3.sort(marks, ({ d }) => d), ({ d, text, y: height }) => `${d} ${text} ${height}`)) {
    const [{ d, text, y: height }] = alike;
    const spot = { x: x(d), y: y(height) - 0.4 * font, room: text.length * LETTER * font };
    const meets = (other) => Math.abs(other.x - spot.x) < (other.room + spot.room) / 2 && Math.abs(other.y - spot.y) < font;
    while (placed.some(meets)) spot.y -= font;
    placed.push(spot);
    const told = halo(layer.append("text").attr("x", spot.x).attr("y", spot.y).attr("fill", ink)).text(text);
    told.append("title").text(alike.map(({ method }) => `${style.get(method).words}, d = ${d}: ${text}`).join("\n"));
  }
}

// The words of every curve beside its end, moved apart where curves end together.
function drawEnds(svg, ends, style, { x, y, right, bottom }, { font, line, text }, ink) {
  const layer = svg.append("g").attr("aria-label", "ends").attr("font-size", font).attr("text-anchor", "start");
  const items = [...ends].map(([name, end]) => ({ name, end, at: y(end.y), height: text.get(name).length * line + 4 }));
  for (const { name, end, top, height } of spread(items, 0, bottom)) {
    const { colour } = style.get(name), start = x(end.d) + (end.text ? 0 : 0.6 * font);
    layer.append("line").attr("x1", start).attr("y1", y(end.y)).attr("x2", right + 8).attr("y2", top + height / 2).attr("stroke", colour).attr("stroke-opacity", 0.6);
    const label = layer.append("text").attr("data-method", name).attr("y", top - 1).attr("fill", d3.interpolateRgb(colour, ink)(0.5));
    for (const part of text.get(name)) label.append("tspan").attr("x", right + 12).attr("dy", line).text(part);
    label.append("title").text(style.get(name).words);
  }
}
