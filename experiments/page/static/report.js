// report.html: panels, methods, sizes and measures of a comparison, and the table of its runs.
import { isDark, onScheme, theme } from "./colours.js";
import { curves, figure } from "./curves.js";
import { readData } from "./data.js";
import { createGrid } from "./grid.js";
import { index, readHash, writeHash } from "./state.js";
import { byId, definitions, element, figures } from "./text.js";

const data = readData();
const known = new Map(data.methods.map((method) => [method.name, method]));
const SYMBOLS = { circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle, diamond: d3.symbolDiamond, wye: d3.symbolWye, cross: d3.symbolCross, star: d3.symbolStar };
const MEASURES = ["time", "ratio", "memory", "gap"];
const state = { panel: 0, measure: "time", hidden: new Set(), from: null, to: null }; // null: no limit

const yes = (value) => (value ? "yes" : "no");
const words = (run) => known.get(run.method).words;
const shown = (name, label, digits = 3) => ({ name, label, kind: "number", value: (run) => run[name], text: (run) => figures(run[name], digits) });
const columns = [
  { name: "d", label: "d", kind: "number", value: (run) => run.d, text: (run) => run.d },
  shown("seed", "data set"),
  { name: "method", label: "method", kind: "name", value: words, text: (run) => element("span", { title: run.method }, words(run)) },
  { name: "outcome", label: "outcome", value: (run) => run.outcome, text: (run) => (run.message ? `${run.outcome}: ${run.message}` : run.outcome) },
  { name: "said", label: "said solved", value: (run) => +run.said, text: (run) => yes(run.said) },
  { name: "solved", label: "is solved", value: (run) => +run.solved, text: (run) => yes(run.solved) },
  shown("tol", "tolerance", 1), shown("gap", "judged gap", 2), shown("iterations", "iterations"),
  shown("build_s", "build CPU s"), shown("compile_s", "compile CPU s"), shown("solve_s", "solve CPU s"), shown("total_s", "total CPU s"), shown("peak_mb", "peak MiB"),
];
const grid = createGrid(byId("head"), byId("rows"), columns, { onSort: remember });

const panel = () => data.panels[state.panel];
const here = () => data.runs.filter((run) => run.panel === panel().title);
const present = (runs) => { const names = new Set(runs.map(({ method }) => method)); return data.methods.filter(({ name }) => names.has(name)); };
// Black would not show on a dark page.
const seen = (methods) => methods.map((m) => (isDark() && m.colour.toLowerCase() === "#000000" ? { ...m, colour: "#ffffff" } : m));

function draw() {
  const runs = here(), methods = seen(present(runs));
  const [from, to] = drawSizes(d3.sort(new Set(runs.map(({ d }) => d))));
  const every = runs.filter(({ d }) => d >= from && d <= to);
  const isShown = (name) => !state.hidden.has(name);
  const drawn = curves(every, state.measure, known, isShown);
  const kept = every.filter(({ method }) => isShown(method));
  byId("chart").replaceChildren(figure(drawn, methods.filter(({ name }) => isShown(name)), Math.max(300, byId("chart").clientWidth), panel().target, theme().ink));
  byId("chips").replaceChildren(...methods.map(chip));
  byId("problem").value = state.panel;
  byId("measure").value = state.measure;
  byId("reading").textContent = reading(drawn, kept);
  byId("count").textContent = `${kept.length} of ${runs.length}, ${kept.filter((run) => run.solved).length} solved`;
  grid.draw(kept);
  remember();
}

// How the chart is read; what it does not contain is not explained.
function reading({ marks }, runs) {
  const ownRule = runs.some(({ method }) => known.get(method).own_rule);
  return [
    `${panel().title}: solved means a judged gap of at most ${figures(panel().target, 1)}. A point is the median over the data sets that were solved.`,
    ownRule ? "A method with a tolerance or an error in its name stops by its own rule: its point is the median over all data sets on which it stopped, and hollow if the judged gap is above 0.1 %." : "",
    marks.length ? "Text in the chart names a limit that methods hit at that size; dotted lines lead to it." : "",
    state.measure === "ratio" ? "Each data set is compared with the fastest of our own solvers on it." : "",
  ].filter(Boolean).join(" ");
}

// Offer the sizes of the panel and return the chosen range; sizes that it lacks are no limits.
function drawSizes(sizes) {
  for (const name of ["from", "to"]) {
    if (!sizes.includes(state[name])) state[name] = null;
    byId(name).replaceChildren(...sizes.map((d) => element("option", { value: d }, d)));
  }
  const range = [state.from ?? sizes[0], state.to ?? sizes.at(-1)];
  [byId("from").value, byId("to").value] = range;
  byId("sizes").hidden = sizes.length < 2;
  return range;
}

// The other end follows when it would be on the wrong side.
function chooseSize(name, other, isBeyond) {
  state[name] = Number(byId(name).value);
  if (state[other] !== null && isBeyond(state[name], state[other])) state[other] = state[name];
  draw();
}

function chip({ name, words: told, colour, dash, symbol }) {
  const on = !state.hidden.has(name);
  const key = d3.create("svg").attr("width", 26).attr("height", 10).attr("aria-hidden", "true");
  key.append("line").attr("x1", 1).attr("x2", 25).attr("y1", 5).attr("y2", 5).attr("stroke", colour).attr("stroke-width", 2.5).attr("stroke-dasharray", dash || null);
  key.append("path").attr("d", d3.symbol(SYMBOLS[symbol], 36)()).attr("transform", "translate(13,5)").attr("fill", colour);
  key.attr("opacity", on ? 1 : 0.35);
  const toggle = () => { if (on) state.hidden.add(name); else state.hidden.delete(name); draw(); [...byId("chips").children].find((c) => c.dataset.method === name).focus(); };
  return element("button", { type: "button", "aria-pressed": on, "data-method": name, title: name, onclick: toggle }, key.node(), ` ${told}`);
}

function remember() {
  writeHash({ t: state.panel, y: state.measure, f: state.from, o: state.to, h: [...state.hidden].map((name) => data.methods.findIndex((m) => m.name === name)).join("."), s: grid.order() });
}

function restore() {
  const given = readHash(["t", "y", "f", "o", "h", "s"]);
  state.panel = index(given.t, data.panels.length, 0);
  state.measure = MEASURES.includes(given.y) ? given.y : "time";
  state.from = index(given.f, 1e9, null);
  state.to = index(given.o, 1e9, null);
  if (state.from !== null && state.to !== null && state.from > state.to) state.to = null;
  state.hidden = new Set((given.h || "").split(".").map((k) => index(k, data.methods.length, null)).filter((k) => k !== null).map((k) => data.methods[k].name));
  if (given.s) grid.setOrder(given.s);
}

const options = d3.groups(data.panels.map(({ title, group }, value) => ({ title, group, value })), ({ group }) => group)
  .map(([label, panels]) => element("optgroup", { label }, ...panels.map(({ title, value }) => element("option", { value }, title))));

byId("title").textContent = data.title;
byId("subtitle").textContent = `${data.runs.length} runs of ${data.methods.length} methods on ${data.panels.length} problems`;
byId("problem").replaceChildren(...options);
byId("problem").addEventListener("change", () => { state.panel = Number(byId("problem").value); draw(); });
byId("measure").addEventListener("change", () => { state.measure = byId("measure").value; draw(); });
byId("from").addEventListener("change", () => chooseSize("from", "to", (from, to) => from > to));
byId("to").addEventListener("change", () => chooseSize("to", "from", (to, from) => to < from));
byId("notes").replaceChildren(...data.notes.map((note) => element("p", {}, note)));
definitions(byId("made"), Object.entries(data.made));
addEventListener("resize", draw);
onScheme(draw);
addEventListener("hashchange", () => { restore(); draw(); });
restore();
draw();
document.documentElement.dataset.ready = Math.round(performance.now());
