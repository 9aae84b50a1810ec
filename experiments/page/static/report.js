// report.html: panels, methods, sizes and measures of a comparison, and the table of its runs.
import { isDark, onScheme } from "./colours.js";
import { curves, figure, spaced } from "./curves.js";
import { readData } from "./data.js";
import { createGrid } from "./grid.js";
import { index, readHash, writeHash } from "./state.js";
import { byId, definitions, element, figures } from "./text.js";

const data = readData();
const families = new Map(data.methods.map(({ name, family }) => [name, family]));
const sizes = d3.sort(new Set(data.runs.map(({ d }) => d)));
const SYMBOLS = { circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle, diamond: d3.symbolDiamond, wye: d3.symbolWye, cross: d3.symbolCross, star: d3.symbolStar };
const MEASURES = ["time", "ratio", "memory", "gap"];
const state = { panel: 0, measure: "time", hidden: new Set(), from: sizes[0], to: sizes.at(-1) };

const yes = (value) => (value ? "yes" : "no");
const shown = (name, label, digits = 3) => ({ name, label, kind: "number", value: (run) => run[name], text: (run) => figures(run[name], digits) });
const columns = [
  { name: "d", label: "d", kind: "number", value: (run) => run.d, text: (run) => run.d },
  { name: "method", label: "method", kind: "name", value: (run) => run.method, text: (run) => run.method },
  { name: "outcome", label: "outcome", value: (run) => run.outcome, text: (run) => (run.message ? `${run.outcome}: ${run.message}` : run.outcome) },
  { name: "said", label: "said solved", value: (run) => +run.said, text: (run) => yes(run.said) },
  { name: "solved", label: "is solved", value: (run) => +run.solved, text: (run) => yes(run.solved) },
  shown("tol", "tolerance", 1), shown("gap", "judged gap", 2), shown("iterations", "iterations"),
  shown("build_s", "build s"), shown("compile_s", "compile s"), shown("solve_s", "solve s"), shown("total_s", "CPU s"), shown("peak_mb", "peak MiB"),
];
const grid = createGrid(byId("head"), byId("rows"), columns, { onSort: remember });

const here = () => data.runs.filter((run) => run.panel === data.panels[state.panel]);
const present = (runs) => { const names = new Set(runs.map(({ method }) => method)); return data.methods.filter(({ name }) => names.has(name)); };
// Black would not show on a dark page.
const seen = (methods) => methods.map((m) => (isDark() && m.colour.toLowerCase() === "#000000" ? { ...m, colour: "#ffffff" } : m));

function draw() {
  const runs = here(), methods = seen(present(runs));
  const kept = runs.filter((run) => !state.hidden.has(run.method) && run.d >= state.from && run.d <= state.to);
  // Ratios are to the fastest of ours, shown or not.
  const every = runs.filter((run) => run.d >= state.from && run.d <= state.to);
  const drawn = curves(every, state.measure, families);
  const visible = ({ method }) => !state.hidden.has(method);
  const picture = figure({ ...drawn, points: drawn.points.filter(visible), marks: drawn.marks.filter(visible) }, methods.filter(({ name }) => !state.hidden.has(name)), Math.max(300, byId("panel").clientWidth - 40), data.target);
  byId("chart").replaceChildren(picture);
  byId("chips").replaceChildren(...methods.map(chip));
  [...byId("tabs").children].forEach((tab, k) => { tab.setAttribute("aria-selected", k === state.panel); tab.tabIndex = k === state.panel ? 0 : -1; });
  byId("panel").setAttribute("aria-labelledby", `tab-${state.panel}`);
  byId("measure").value = state.measure;
  byId("from").value = state.from;
  byId("to").value = state.to;
  byId("reading").textContent = "A point is the median of the runs that the judge accepts; a cross is a limit that was hit." + (state.measure === "ratio" ? " The fastest of our own solvers at a size is 1." : "");
  byId("count").textContent = `${kept.length} of ${runs.length}, ${kept.filter((run) => run.solved).length} solved`;
  grid.draw(kept);
  drawBrush();
  remember();
}

function chip({ name, colour, dash, symbol }) {
  const on = !state.hidden.has(name);
  const key = d3.create("svg").attr("width", 26).attr("height", 10).attr("aria-hidden", "true");
  key.append("line").attr("x1", 1).attr("x2", 25).attr("y1", 5).attr("y2", 5).attr("stroke", colour).attr("stroke-width", 2.5).attr("stroke-dasharray", dash || null);
  key.append("path").attr("d", d3.symbol(SYMBOLS[symbol], 36)()).attr("transform", "translate(13,5)").attr("fill", colour);
  key.attr("opacity", on ? 1 : 0.35);
  const toggle = () => { if (on) state.hidden.add(name); else state.hidden.delete(name); draw(); [...byId("chips").children].find((c) => c.dataset.method === name).focus(); };
  return element("button", { type: "button", "aria-pressed": on, "data-method": name, onclick: toggle }, key.node(), ` ${name}`);
}

// A strip of all sizes to brush over; the two numbers above it say the same for the keyboard.
function drawBrush() {
  const width = Math.max(300, byId("panel").clientWidth - 40), height = 34;
  if (sizes.length < 2) return;
  const x = d3.scaleLog([sizes[0], sizes.at(-1)], [60, width - 20]);
  const svg = d3.create("svg").attr("class", "line").attr("width", width).attr("height", height + 18);
  svg.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(spaced(sizes, width - 80)).tickFormat((d) => String(d)));
  const brush = d3.brushX().extent([[60, 4], [width - 20, height]]).on("end", ({ selection, sourceEvent }) => {
    if (!sourceEvent) return; // our own drawing, not the reader's
    const [low, high] = selection || x.range();
    const within = sizes.filter((d) => x(d) >= low - 6 && x(d) <= high + 6); // nobody hits a pixel
    if (within.length) Object.assign(state, { from: within[0], to: within.at(-1) });
    draw();
  });
  svg.append("rect").attr("x", 60).attr("y", 4).attr("width", width - 80).attr("height", height - 4).attr("fill", "currentColor").attr("opacity", 0.06);
  svg.append("text").attr("x", 66).attr("y", 24).text("drag to choose sizes");
  const strip = svg.append("g").call(brush);
  if (state.from > sizes[0] || state.to < sizes.at(-1)) strip.call(brush.move, [x(Math.max(state.from, sizes[0])) - 6, x(Math.min(state.to, sizes.at(-1))) + 6]);
  byId("brush").replaceChildren(svg.node());
}

function remember() {
  writeHash({ t: state.panel, y: state.measure, f: state.from, o: state.to, h: [...state.hidden].map((name) => data.methods.findIndex((m) => m.name === name)).join("."), s: grid.order() });
}

function restore() {
  const given = readHash(["t", "y", "f", "o", "h", "s"]);
  state.panel = index(given.t, data.panels.length, 0);
  state.measure = MEASURES.includes(given.y) ? given.y : "time";
  state.from = index(given.f, 1e9, sizes[0]);
  state.to = index(given.o, 1e9, sizes.at(-1));
  state.hidden = new Set((given.h || "").split(".").map((k) => index(k, data.methods.length, null)).filter((k) => k !== null).map((k) => data.methods[k].name));
  if (given.s) grid.setOrder(given.s);
}

function tab(name, k) {
  const show = (next) => { state.panel = (next + data.panels.length) % data.panels.length; draw(); byId("tabs").children[state.panel].focus(); };
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  return element("button", { type: "button", role: "tab", id: `tab-${k}`, "aria-controls": "panel", onclick: () => show(k), onkeydown: (event) => { if (event.key in steps) show(k + steps[event.key]); } }, name);
}

byId("title").textContent = data.title;
byId("subtitle").textContent = `${data.runs.length} runs of ${data.methods.length} methods on ${data.panels.length} problems; solved means a judged gap of at most ${data.target.toExponential()}`;
byId("tabs").replaceChildren(...data.panels.map(tab));
byId("measure").addEventListener("change", () => { state.measure = byId("measure").value; draw(); });
for (const name of ["from", "to"]) byId(name).addEventListener("change", () => { const value = Number(byId(name).value); if (value > 0) state[name] = value; draw(); });
byId("all").addEventListener("click", () => { Object.assign(state, { from: sizes[0], to: sizes.at(-1) }); draw(); });
byId("notes").replaceChildren(...data.notes.map((note) => element("p", {}, note)));
definitions(byId("made"), Object.entries(data.made));
addEventListener("resize", draw);
onScheme(draw);
addEventListener("hashchange", () => { restore(); draw(); });
restore();
draw();
document.documentElement.dataset.ready = Math.round(performance.now());
