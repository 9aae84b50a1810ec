// ledger.html: every claim as a row of dots, deviation over tolerance, and as a text that opens.
import { isDark, onScheme } from "./colours.js";
import { readData } from "./data.js";
import { readHash, writeHash } from "./state.js";
import { byId, definitions, element, figures } from "./text.js";

const data = readData();
const LEAST = 1e-10; // times the tolerance: what is less is drawn here
const colours = () => (isDark() ? { printed: "#56B4E9", corrected: "#E69F00" } : { printed: "#0072B2", corrected: "#D55E00" });
const verdicts = [...new Set(data.entries.map(({ verdict }) => verdict))];
const GOOD = new Set(["holds"]);
const state = { hidden: new Set(), query: "", open: new Set() };

function kept() {
  const words = state.query.trim().toLowerCase();
  return data.entries.filter((entry) => !state.hidden.has(entry.verdict) && (!words || `${entry.name} ${entry.says} ${entry.finds}`.toLowerCase().includes(words)));
}

function marks(entries) {
  const ratios = (entry, kind) => entry[kind].map((v) => ({ name: entry.name, kind, ratio: v === null ? null : Math.max(v / entry.tolerance, LEAST) }));
  const all = entries.flatMap((entry) => [...ratios(entry, "printed"), ...ratios(entry, "corrected")]);
  const most = Math.max(10, (d3.max(all, ({ ratio }) => ratio) || 1) * 10);
  return { most, dots: all.map((dot) => ({ ...dot, undefined: dot.ratio === null, ratio: dot.ratio === null ? most : dot.ratio })) };
}

function chart(entries) {
  const { dots, most } = marks(entries);
  const width = Math.max(300, byId("panel").clientWidth - 36);
  const left = Math.min(250, width * 0.42);
  const letters = Math.floor(left / 6.4);
  const cut = (name) => (name.length > letters ? `${name.slice(0, letters - 1)}…` : name);
  const figure = Plot.plot({
    className: "plot", width, height: 60 + 17 * entries.length, marginLeft: left, marginRight: 16,
    ariaLabel: "deviation over tolerance of every claim",
    x: { type: "log", domain: [LEAST, most], label: "deviation / tolerance", grid: true, ticks: 6, tickFormat: "~e", axis: "both" },
    y: { type: "band", domain: entries.map(({ name }) => name), label: null, tickFormat: cut, tickSize: 0 },
    marks: [
      Plot.ruleX([1], { stroke: "currentColor", strokeWidth: 1.5 }),
      Plot.dot(dots.filter(({ kind }) => kind === "printed"), { x: "ratio", y: "name", stroke: colours().printed, strokeOpacity: 0.55, r: 3.2, symbol: ({ undefined }) => (undefined ? "times" : "circle"), title: describe }),
      Plot.dot(dots.filter(({ kind }) => kind === "corrected"), { x: "ratio", y: "name", stroke: colours().corrected, strokeOpacity: 0.7, r: 3, symbol: "plus", title: describe }),
    ],
    symbol: { type: "identity" },
  });
  // A row of the picture opens its claim.
  const rows = figure.scale("y");
  figure.addEventListener("click", (event) => {
    const [, y] = d3.pointer(event, figure);
    const found = entries.find(({ name }) => { const top = rows.apply(name); return y >= top && y <= top + rows.bandwidth; });
    if (found) show(found.name);
  });
  return figure;
}

function show(name) {
  const box = [...byId("list").children].find((child) => child.dataset.name === name);
  box.open = true;
  box.scrollIntoView({ block: "center" });
}

const describe = ({ name, kind, ratio, undefined }) => `${name}, ${kind === "printed" ? "as printed" : "as corrected"}: ${undefined ? "undefined" : `${figures(ratio, 2)} × tolerance`}`;

function worst(values) {
  if (!values.length) return "–";
  return values.includes(null) ? "undefined" : figures(d3.max(values), 2);
}

function row(entry) {
  const list = element("dl");
  definitions(list, [
    ["the paper says", entry.says], ...(entry.finds ? [["we find", entry.finds]] : []),
    ["verdict", `${entry.verdict}${entry.ours ? " (on our finding: the paper does not say it)" : ""}`], ...(entry.erratum ? [["erratum", entry.erratum]] : []),
    ["worst, as printed", worst(entry.printed)], ["worst, as corrected", worst(entry.corrected)],
    ["tolerance", `${figures(entry.tolerance, 2)}: ${entry.reason}`], ["refuted beyond", figures(entry.refuted, 2)],
    ["routes", entry.routes], ["instances", `${entry.printed.length}: ${entry.ranges}`],
  ]);
  const box = element("details", { class: "card", "data-name": entry.name }, element("summary", {}, element("strong", {}, entry.name), element("span", { class: `badge ${GOOD.has(entry.verdict) ? "good" : "bad"}` }, entry.verdict), element("span", { class: "small" }, entry.ours ? entry.finds : entry.says)), list);
  if (entry.counterexample) {
    box.append(element("h3", {}, "Smallest counterexample"), element("p", { class: "small" }, "All of its numbers are in ", element("a", { href: entry.file }, entry.file), "."));
    for (const { name, text } of entry.counterexample) box.append(element("pre", {}, `${name} = ${text}`));
  }
  box.open = state.open.has(entry.name);
  box.addEventListener("toggle", () => { if (box.open) state.open.add(entry.name); else state.open.delete(entry.name); remember(); });
  return box;
}

function draw() {
  const entries = kept();
  byId("chart").replaceChildren(entries.length ? chart(entries) : element("p", {}, "No claim is left."), legend());
  const part = (title, own) => { const kept = entries.filter(({ ours }) => ours === own); return kept.length ? [element("h3", {}, title), ...kept.map(row)] : []; };
  byId("list").replaceChildren(...part("What the paper says", false), ...part("What it does not say: findings of ours", true));
  byId("count").textContent = `${entries.length} of ${data.entries.length}`;
  byId("verdicts").replaceChildren(...verdicts.map(chip));
  remember();
}

function legend() {
  const key = (label, symbol, colour) => {
    const svg = d3.create("svg").attr("width", 14).attr("height", 12).attr("aria-hidden", "true");
    svg.append("path").attr("transform", "translate(7,6)").attr("d", d3.symbol(symbol, 40)()).attr("fill", "none").attr("stroke", colour).attr("stroke-width", 1.5);
    return element("span", {}, svg.node(), ` ${label} `);
  };
  return element("p", { class: "small" }, key("as printed", d3.symbolCircle, colours().printed), key("as corrected", d3.symbolPlus, colours().corrected), key("undefined", d3.symbolTimes, colours().printed));
}

function chip(verdict) {
  const on = !state.hidden.has(verdict);
  return element("button", { type: "button", "aria-pressed": on, "data-verdict": verdict, onclick: () => {
    if (on) state.hidden.add(verdict); else state.hidden.delete(verdict);
    draw();
    [...byId("verdicts").children].find((c) => c.dataset.verdict === verdict).focus();
  } }, verdict);
}

function remember() {
  writeHash({ h: [...state.hidden].map((v) => verdicts.indexOf(v)).join("."), q: state.query, o: [...state.open].map((name) => data.entries.findIndex((e) => e.name === name)).join(".") });
}

function restore() {
  const given = readHash(["h", "q", "o"]);
  const listed = (text, from) => (text || "").split(".").filter((k) => k !== "" && Number(k) in from).map((k) => from[Number(k)]);
  state.hidden = new Set(listed(given.h, verdicts));
  state.open = new Set(listed(given.o, data.entries).map(({ name }) => name));
  state.query = given.q || "";
  byId("search").value = state.query;
}

byId("title").textContent = data.title;
byId("subtitle").textContent = data.summary;
byId("search").addEventListener("input", () => { state.query = byId("search").value; draw(); });
byId("notes").replaceChildren(...data.notes.map((note) => element("p", {}, note)));
definitions(byId("made"), Object.entries(data.made));
addEventListener("resize", draw);
onScheme(draw);
addEventListener("hashchange", () => { restore(); draw(); });
restore();
draw();
document.documentElement.dataset.ready = Math.round(performance.now());
