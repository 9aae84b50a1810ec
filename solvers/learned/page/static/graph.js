// graph.html: the parts of the page, and what changes when a slider, the picture or the table does.
import { createAlong } from "./along.js";
import { colouring, drawLegend, theme } from "./colours.js";
import { readData } from "./data.js";
import { createDetails } from "./details.js";
import { offerDownloads } from "./downloads.js";
import { startJudge } from "./judging.js";
import { createPicture } from "./picture.js";
import { drawnText, strongest } from "./scene.js";
import { embedded, index, readHash, writeHash } from "./state.js";
import { createTable } from "./table.js";
import { byId, definitions, element, figures } from "./text.js";
import { degrees } from "./worst.js";

// Whatever stops this script says so: a page that is half drawn must not look like one that is whole.
addEventListener("error", ({ message }) => {
  if (document.documentElement.dataset.ready === undefined) byId("subtitle").textContent = `The data of this page cannot be shown: ${message}`;
});

const data = readData();
const d = data.names.length;
const TOLERANCE = 1e-6;
const places = new Map(data.points.map((point, k) => [`${point.radius},${point.eta}`, k]));
const chosen = data.points[data.chosen];
const state = { radius: chosen.radius, eta: chosen.eta, colour: "community", every: false, picked: null };
const colours = ["community", "degree", ...data.columns.map(({ name }) => name)];
const judged = data.problem.set === null ? null : startJudge(data);
// Graphs other than the chosen one have no selection. They show as many edges, the strongest, so
// that what a slider changes is the graph and not the rule by which its edges are shown.
const tested = d3.range(chosen.weights.length).filter((e) => exists(chosen, e) && chosen.selected?.[e] === 1);
const hasSelection = chosen.selected !== undefined;
let view = null;

const picture = createPicture(byId("picture"), byId("tip"), data, { pick, describe, moved: remember });
const table = createTable(data, { pick });
const drawDetails = createDetails(data);
const drawAlong = createAlong(data, stops, (k) => { state.radius = k; draw(); });

// The radii of the graphs that were computed for an eta, and the etas of those for any radius: sliders
// stop nowhere else, so what is said is always about the graph that is shown.
function stops(eta) {
  return data.radii.flatMap((_, radius) => { const key = places.get(`${radius},${eta}`); return key === undefined ? [] : [{ radius, key }]; });
}
const etas = d3.range(data.etas.length).filter((eta) => stops(eta).length > 0);
function settle() {
  const computed = stops(state.eta).map(({ radius }) => radius);
  state.radius = d3.least(computed, (radius) => Math.abs(radius - state.radius));
}

function exists({ weights }, e) {
  return weights[e] >= data.threshold && weights[e] > 0;
}

// Which edges of a graph are shown, and in which words the page speaks of them.
function choose(point) {
  const edges = d3.range(point.weights.length).filter((e) => exists(point, e));
  if (state.every || !hasSelection) return { edges, shown: edges, kind: "" };
  if (point.selected) return { edges, shown: tested, kind: "selected " };
  if (edges.length <= tested.length) return { edges, shown: edges, kind: "" };
  const byWeight = d3.sort(edges, (e) => -point.weights[e]);
  return { edges, shown: d3.sort(byWeight.slice(0, tested.length)), kind: "shown " };
}

// Everything that the parts of the page need to know about what is looked at.
function look() {
  const key = places.get(`${state.radius},${state.eta}`);
  const point = data.points[key], picked = state.picked;
  const { edges, shown, kind } = choose(point);
  const neighbours = new Uint32Array(d);
  for (const e of shown) {
    neighbours[point.heads[e]]++;
    neighbours[point.tails[e]]++;
  }
  const degree = degrees(point, d);
  const near = new Set();
  if (picked && picked[1] === null) {
    for (const e of shown) {
      if (point.heads[e] === picked[0]) near.add(point.tails[e]);
      if (point.tails[e] === picked[0]) near.add(point.heads[e]);
    }
  }
  const painted = colouring(data, degree, state.colour, theme().dark, key === data.chosen);
  const between = (e, i, j) => Math.min(i, j) === Math.min(point.heads[e], point.tails[e]) && Math.max(i, j) === Math.max(point.heads[e], point.tails[e]);
  const touching = picked ? new Set(picked.filter((v) => v !== null)) : null;
  return {
    key, point, edges, shown, kind, neighbours, degree, picked, painted, fill: painted.fill, touching,
    drawn: strongest({ point, touching }, shown, d),
    focus: picked ? picked[0] : null,
    isPickedVertex: (i) => picked !== null && picked.includes(i),
    isPickedEdge: (e) => picked !== null && picked[1] !== null && between(e, ...picked),
    isNear: (i) => near.size <= 40 && near.has(i),
    edgeBetween: (i, j) => { const e = edges.find((n) => between(n, i, j)); return e === undefined ? null : e; },
    refresh: draw, remember,
  };
}

function draw() {
  settle();
  view = look();
  byId("radius-text").textContent = `${figures(data.radii[state.radius])}${state.radius === chosen.radius ? " (chosen)" : ""}`;
  byId("eta-text").textContent = `${figures(data.etas[state.eta])}${state.eta === chosen.eta ? " (chosen)" : ""}`;
  slide("radius", stops(state.eta).map(({ radius }) => radius));
  slide("eta", etas);
  byId("colour").value = state.colour;
  byId("every").checked = state.every;
  byId("chosen").disabled = state.radius === chosen.radius && state.eta === chosen.eta;
  drawAlong(state);
  byId("about").hidden = view.key === data.chosen;
  showCertificate(view); // first: it says what is wrong with data that cannot be drawn
  const { shown, kind, point } = view;
  const undecided = shown.filter((e) => point.undecided[e] === 1).length;
  const alone = view.neighbours.filter((count) => count === 0).length;
  byId("subtitle").textContent = `${d} vertices, ${counted(view)}` + (undecided ? `, ${undecided} of them undecided` : "") + (alone ? `, ${alone} without ${kind ? `a ${kind}edge` : "an edge"}` : "");
  picture.draw(view);
  drawLegend(byId("legend"), view.painted, { alone, kind, undecided, heaviest: d3.max(shown, (e) => point.weights[e]), drawn: view.drawn.length < shown.length ? drawnText(view.drawn.length, shown.length) : null });
  table.draw(view);
  drawDetails(view);
  const clear = byId("clear");
  clear.hidden = view.picked === null;
  if (view.picked) clear.textContent = `Only edges at ${view.picked.filter((v) => v !== null).map((v) => data.names[v]).join(" or ")} ×`;
  remember();
}

function counted({ edges, shown, kind }) {
  if (kind === "selected ") return `${shown.length} selected edges`;
  if (shown.length === edges.length) return `${edges.length} edges`;
  return shown.length ? `the ${shown.length} strongest of ${edges.length} edges` : `none of ${edges.length} edges shown`;
}

// The problem that was judged, from the fields that the judge reads: facts are only text.
function stated(point) {
  const { set, p, prior, trace } = data.problem;
  const sets = { transport: "the ball of transport", moment: `the ball of moments (p = ${p === null ? "∞" : figures(p)})`, single: "the sample average" };
  const priors = {
    frobenius: () => `eta ${figures(data.etas[point.eta])}, trace ${figures(trace)}`,
    "log-degree": () => `log-degree prior with alpha ${figures(point.alpha)}, beta ${figures(point.beta)}`,
  };
  return `${sets[set]}, radius ${figures(data.radii[point.radius])}, ${priors[prior]()}`;
}

function showCertificate({ key, point }) {
  const verified = byId("verified");
  const edges = data.threshold > 0 ? " Which edges are provably in the optimal graph was found in Python only." : "";
  const said = `The judge in Python: gap ${point.gap === null ? "unknown" : point.gap.toExponential(1)}, ${point.solved ? "solved" : "not solved"} to ${TOLERANCE.toExponential()}.${edges}`;
  const bracket = (bound, value) => { byId("bound").textContent = figures(bound, 10); byId("value").textContent = figures(value, 10); };
  bracket(point.bound, point.value);
  byId("judged").textContent = said;
  verified.className = "verdict";
  delete verified.dataset.gap;
  if (judged === null) {
    verified.textContent = `Not checked here: ${data.problem.why}.`;
    return;
  }
  if (point.lacks) {
    verified.textContent = "Not checked here: the evidence for this graph is too large for the page.";
    return;
  }
  verified.textContent = "Checking …";
  judged(key).then((verdict) => {
    if (view.key !== key) return; // a later graph is shown by now
    // Both numbers are rounded outwards: a bound above the value would be a contradiction, not a proof.
    const optimal = verdict.gap >= 0 && verdict.gap <= TOLERANCE, feasible = verdict.repair <= TOLERANCE;
    const good = optimal && feasible;
    bracket(verdict.bound, verdict.value);
    Object.assign(verified.dataset, { gap: verdict.gap, value: verdict.value, bound: verdict.bound, point: key });
    verified.className = `verdict ${good ? "good" : "bad"}`;
    if (good) verified.textContent = `✓ Verified here: within ${verdict.gap.toExponential(1)} of the optimum`;
    else if (optimal) verified.textContent = `✗ Not proved here: the graph had to be changed by ${verdict.repair.toExponential(1)} of its trace to be feasible`;
    else verified.textContent = `✗ Not proved here: gap ${verdict.gap.toExponential(1)}`;
    byId("judged").textContent = `Computed by this page from its own data in ${Math.max(1, Math.round(verdict.milliseconds))} ms, for ${stated(point)}. ${said}`;
  }).catch((error) => {
    if (view.key !== key) return;
    bracket(null, null); // what the file says of data that are not in order is worth nothing
    verified.className = "verdict bad";
    verified.textContent = `✗ Refused: ${error.message}.`;
    byId("judged").textContent = "This page judges data only in the form in which they are written. Nothing here was checked.";
  });
}

function pick(found) {
  if (found === null) state.picked = null;
  else if (found.vertex !== undefined) state.picked = [found.vertex, null];
  else state.picked = [view.point.heads[found.edge], view.point.tails[found.edge]];
  draw();
}

function describe({ vertex, edge }) {
  const { point } = view;
  if (vertex !== undefined) return `${data.names[vertex]}: ${view.neighbours[vertex]} edges, degree ${figures(view.degree[vertex], 3)}`;
  return `${data.names[point.heads[edge]]} – ${data.names[point.tails[edge]]}: ${figures(point.weights[edge], 3)}` + (point.undecided[edge] ? ", undecided" : "");
}

function remember() {
  const [v, u] = state.picked || [null, null];
  writeHash({ r: state.radius, e: state.eta, c: state.colour, a: state.every ? 1 : "", v, u, q: byId("search").value, k: byId("kind").value === "all" ? "" : byId("kind").value, s: table.order(), z: picture.place() });
}

function restore() {
  const given = readHash(["r", "e", "c", "a", "v", "u", "q", "k", "s", "z"]);
  state.radius = index(given.r, data.radii.length, chosen.radius);
  state.eta = index(given.e, data.etas.length, chosen.eta);
  if (!etas.includes(state.eta)) state.eta = chosen.eta;
  state.colour = colours.includes(given.c) ? given.c : "community";
  state.every = hasSelection && given.a === "1";
  const v = index(given.v, d, null), u = index(given.u, d, null);
  state.picked = v === null ? null : [v, u];
  byId("search").value = given.q || "";
  if (["proved", "undecided"].includes(given.k)) byId("kind").value = given.k;
  if (given.s) table.setOrder(given.s);
  picture.goTo(given.z || "");
}

// A slider's value is a place in the list of what was computed.
function slide(name, values) {
  const input = byId(name);
  input.max = values.length - 1;
  input.disabled = values.length === 1;
  input.value = values.indexOf(state[name]);
  input.setAttribute("aria-valuetext", byId(`${name}-text`).textContent); // not the place in a list
  byId(`${name}-marks`).replaceChildren(element("option", { value: values.indexOf(chosen[name]) }));
}

byId("title").textContent = data.title;
for (const name of colours) byId("colour").append(element("option", { value: name }, name));
byId("radius").addEventListener("input", () => { state.radius = stops(state.eta)[Number(byId("radius").value)].radius; draw(); });
byId("eta").addEventListener("input", () => { state.eta = etas[Number(byId("eta").value)]; draw(); });
byId("colour").addEventListener("change", () => { state.colour = byId("colour").value; draw(); });
byId("chosen").addEventListener("click", () => { state.radius = chosen.radius; state.eta = chosen.eta; draw(); });
byId("every").addEventListener("change", () => { state.every = byId("every").checked; draw(); });
byId("every").closest("label").hidden = !hasSelection;
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("clear").addEventListener("click", () => pick(null));
byId("zoom-in").addEventListener("click", () => picture.zoomBy(1.5));
byId("zoom-out").addEventListener("click", () => picture.zoomBy(1 / 1.5));
byId("zoom-all").addEventListener("click", () => picture.reset());
offerDownloads(byId("downloads"), data, picture, () => view);
byId("link").addEventListener("click", async () => {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    byId("linked").textContent = "Copied.";
  } catch {
    byId("linked").textContent = "It is in the address bar."; // browsers may refuse the clipboard
  }
});
byId("link").parentElement.hidden = embedded;
byId("warnings").hidden = data.warnings.length === 0;
byId("warnings").replaceChildren(...data.warnings.map((text) => element("li", {}, text)));
byId("evidence").hidden = data.evidence.length === 0;
byId("about").textContent = "This is about the chosen graph. The edges of the graph that is shown were not tested.";
definitions(byId("said"), data.evidence);
byId("skipped").hidden = data.skipped === 0;
byId("skipped").textContent = `${data.skipped} of ${data.skipped + data.points.length} graphs were left out: they would have taken too long to compute.`;
definitions(byId("facts"), Object.entries(data.facts));
const units = data.unit === 1 ? [] : [`Radius and eta are relative to the signals, which were divided by ${figures(data.unit)}.`];
byId("notes").replaceChildren(...[...data.notes, ...units].map((note) => element("p", { class: "small" }, note)));
definitions(byId("made"), Object.entries(data.made));
addEventListener("resize", () => drawAlong(state));
addEventListener("hashchange", () => { restore(); draw(); });
restore();
draw();
document.documentElement.dataset.ready = Math.round(performance.now());
