// A vertex or an edge that was picked: its figures, and what the worst case does to its signals.
import { communities } from "./colours.js";
import { alignedShift, applyLaplacian, conjugateSolve, degrees, factorAbove } from "./worst.js";
import { choleskySolve } from "./linalg.js";
import { byId, definitions, element, figures, short } from "./text.js";

const MOST_FACTORED = 1000;

// The worst case maps a signal x to x + (γI - L)⁻¹Lx; this is the row of that map for one vertex.
function row(graph, invert, d, i) {
  const solved = new Float64Array(d), found = new Float64Array(d);
  solved[i] = 1;
  if (!invert(solved)) return null;
  applyLaplacian(graph, solved, found);
  found[i] += 1;
  return found;
}

export function createDetails(data) {
  const holder = byId("details"), d = data.names.length, grouped = communities(data);
  let kept = { key: null, factor: null };

  function inverter(view) {
    if (d > MOST_FACTORED) return (x) => conjugateSolve(view.point, d, view.point.multiplier, x);
    if (kept.key !== view.key) kept = { key: view.key, factor: factorAbove(view.point, d, view.point.multiplier) };
    return (x) => { choleskySolve(kept.factor.a, d, x); return true; };
  }
  // Signals of a vertex, or differences along an edge, before and after.
  function series(view, i, j) {
    const invert = inverter(view), before = [], after = [];
    const map = [i, j].map((v) => (v === null ? null : row(view.point, invert, d, v)));
    if (map[0] === null || (j !== null && map[1] === null)) return null;
    for (let n = 0; n < data.observations; n++) {
      const x = data.signals.subarray(n * d, (n + 1) * d);
      const at = (v) => (v === null ? 0 : x[v]);
      const moved = (m) => { if (m === null) return 0; let sum = 0; for (let k = 0; k < d; k++) sum += m[k] * x[k]; return sum; };
      before.push(at(i) - at(j));
      after.push(moved(map[0]) - moved(map[1]));
    }
    return { before, after };
  }

  const unit = (j) => `${j === null ? "signal" : "difference"}${data.unit === 1 ? "" : ` / ${figures(data.unit, 3)}`}`;

  function worst(view, i, j) {
    const what = j === null ? "signal" : "difference of the two signals";
    const radius = data.radii[view.point.radius], set = data.problem.moves;
    const unknown = (why) => [element("p", { class: "small" }, `What the worst case does is not computed here: ${why}.`)];
    if (set === null) return unknown(data.problem.why);
    if (set === "single" || radius === 0) return [element("p", { class: "small" }, "At radius 0 the data are taken at their word: nothing moves.")];
    if (set === "moment" && d > MOST_FACTORED) return unknown(`this set moves a matrix of ${d} × ${d} numbers`);
    if (set === "moment") {
      const { shift } = alignedShift(view.point, degrees(view.point, d), d, data.problem.p);
      const entry = (a, b) => radius * shift[a * d + b];
      const by = j === null ? entry(i, i) : entry(i, i) + entry(j, j) - 2 * entry(i, j);
      return [element("p", {}, `The worst case raises the mean square of the ${what} by ${figures(by)}. This set moves second moments, not signals.`)];
    }
    if (data.observations === 0) return [element("p", { class: "small" }, "The signals are known by their moments only.")];
    const found = series(view, i, j);
    if (found === null) return unknown("γ is too near the largest eigenvalue");
    const { before, after } = found;
    const moves = after.map((value, n) => value - before[n]);
    const size = (values) => Math.sqrt(d3.mean(values, (v) => v * v));
    const [b, a] = [size(before), size(after)];
    return [
      element("p", {}, `The worst case changes the ${what} from ${figures(b, 3)} to ${figures(a, 3)} in root mean square.`),
      chart([{ values: before, kind: "before" }, { values: after, kind: "after" }], `${what} by observation, as observed and in the worst case`, unit(j)),
      element("p", { class: "small" }, element("span", { class: "key" }), " as observed ", element("span", { class: "key after" }), " in the worst case"),
      chart([{ values: moves, kind: "after" }], `by how much the worst case moves the ${what}`, "move"),
      element("p", { class: "small" }, "The move alone, worst case less observation."),
    ];
  }

  return function draw(view) {
    const { point, picked } = view;
    if (picked === null) {
      holder.replaceChildren(element("p", { class: "small hint" }, "Click a vertex or an edge to see what the worst case does to its signals."));
      return;
    }
    const list = element("dl"), [i, j] = picked;
    if (j === null) {
      definitions(list, [
        ["edges", view.neighbours[i] || `none ${view.kind}`.trim()], ["degree", figures(view.degree[i])], ["community", grouped.has(data.community[i]) ? data.community[i] + 1 : "none"],
        ...data.columns.map(({ name, values }) => [name, figures(values[i])]),
      ]);
    } else {
      const e = view.edgeBetween(i, j);
      definitions(list, [
        ["weight", e === null ? "no edge here" : figures(point.weights[e]) + (view.shown.includes(e) ? "" : " (not shown)")],
        ["in the optimal graph", e === null || data.threshold <= 0 ? "–" : point.undecided[e] ? "undecided" : "provably"],
      ]);
    }
    const title = j === null ? data.names[i] : `${short(data.names[i])} – ${short(data.names[j])}`;
    holder.replaceChildren(element("h2", {}, title), list, ...worst(view, i, j));
  };
}

// Lines over the observations; the classes say which is which.
function chart(lines, label, title) {
  const width = 300, height = 124, margin = { left: 46, right: 4, top: 6, bottom: 28 };
  const all = lines.flatMap(({ values }) => values);
  const x = d3.scaleLinear([0, Math.max(lines[0].values.length - 1, 1)], [margin.left, width - margin.right]);
  const y = d3.scaleLinear(d3.extent(all), [height - margin.bottom, margin.top]).nice(4);
  const svg = d3.create("svg").attr("class", "line").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
  svg.append("g").attr("transform", `translate(${margin.left},0)`).call(d3.axisLeft(y).ticks(4).tickSizeOuter(0));
  svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`).call(d3.axisBottom(x).ticks(5).tickSizeOuter(0));
  svg.append("text").attr("x", (margin.left + width) / 2).attr("y", height - 3).attr("text-anchor", "middle").text("observation");
  svg.append("text").attr("transform", `translate(9,${(height - margin.bottom) / 2}) rotate(-90)`).attr("text-anchor", "middle").text(title);
  const line = d3.line((_, n) => x(n), (v) => y(v));
  for (const { values, kind } of lines) svg.append("path").attr("class", kind).attr("d", line(values));
  return svg.node();
}
