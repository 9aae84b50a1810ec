// The page's own judge: bound ≤ optimum ≤ value, from the data of the page alone.
// It shares no line with the judge in Python, and proves the same two numbers in another way:
// positive definiteness by Cholesky, the risk at one γ, costs by differences, τ by sorting.
import { alignedShift, degrees, entrywiseNorm, topDirection, worstTransport } from "./worst.js";

// Takes { d, set, p, trace, rows, rowCount, radius, eta, graph, multiplier, nu, moment }.
export function judge(task) {
  const { d, set, p, trace, rows, rowCount, radius, eta } = task;
  const { graph, repair } = feasible(task.graph, trace);
  const degree = degrees(graph, d);
  let squares = 0;
  for (const weight of graph.weights) squares += 2 * weight * weight;
  for (const value of degree) squares += value * value;
  let value = nominalRisk(graph, rows, rowCount, d) + eta * squares;
  let constant = 0;
  const moments = [];
  if (set === "transport") {
    const worst = worstTransport(graph, rows, rowCount, d, radius, task.multiplier);
    value += worst.premium;
    let spread = new Float64Array(0);
    if (worst.left > 1e-12 * radius * radius && worst.factor) {
      spread = topDirection(worst.factor, d).map((v) => v * Math.sqrt(worst.left) * (1 - 1e-14));
    }
    moments.push({ moved: worst.moved, spread, shift: null });
  } else if (set === "moment") {
    const { norm, shift } = alignedShift(graph, degree, d, p);
    value += radius * norm;
    if (p === null) constant = radius * 2 * trace;
    moments.push({ moved: rows, spread: new Float64Array(0), shift: shift.map((v) => v * radius) });
  } else {
    moments.push({ moved: rows, spread: new Float64Array(0), shift: null });
  }
  if (task.moment) moments.push(task.moment);
  const multipliers = [degree.map((value) => 2 * eta * value)];
  if (task.nu) multipliers.push(task.nu);
  let bound = -Infinity;
  for (const moment of moments) {
    const inside = pulledInside(moment, task);
    if (inside === null) continue;
    const costs = edgeCosts(inside, d);
    for (const nu of multipliers) bound = Math.max(bound, dualBound(costs, nu, d, eta, trace));
  }
  return { value, bound, gap: relativeGap(value, bound, constant), repair };
}

// Negative weights become zero and the rest is scaled to the trace; what that changed is reported.
function feasible(graph, trace) {
  let sum = 0;
  for (const weight of graph.weights) sum += Math.max(weight, 0);
  const factor = trace / (2 * sum);
  const weights = graph.weights.map((weight) => Math.max(weight, 0) * factor);
  let change = 0;
  for (let e = 0; e < weights.length; e++) change += Math.abs(weights[e] - graph.weights[e]);
  return { graph: { heads: graph.heads, tails: graph.tails, weights }, repair: (2 * change) / trace };
}

function nominalRisk(graph, rows, count, d) {
  let risk = 0;
  for (let e = 0; e < graph.weights.length; e++) {
    let square = 0;
    for (let r = 0; r < count; r++) {
      const difference = rows[r * d + graph.heads[e]] - rows[r * d + graph.tails[e]];
      square += difference * difference;
    }
    risk += graph.weights[e] * square;
  }
  return risk;
}

// Moves a moment towards the nominal one until it is seen to be in the set; null if it is of a kind
// that says nothing about the set.
function pulledInside(moment, { set, p, rows, radius }) {
  if (set === "moment") {
    if (!same(moment.moved, rows) || moment.spread.length) return null;
    const size = moment.shift ? entrywiseNorm(moment.shift, p) : 0;
    const share = size > radius ? (radius / size) * (1 - 1e-14) : 1;
    return { rows, extra: moment.spread, shift: moment.shift ? moment.shift.map((v) => v * share) : null };
  }
  if (moment.shift || moment.moved.length !== rows.length) return null;
  let cost = 0;
  for (let k = 0; k < rows.length; k++) cost += (moment.moved[k] - rows[k]) ** 2;
  for (const value of moment.spread) cost += value * value;
  const limit = set === "transport" ? radius : 0;
  if (Math.sqrt(cost) <= limit) return { rows: moment.moved, extra: moment.spread, shift: null };
  const share = (limit / Math.sqrt(cost)) * (1 - 1e-14);
  return {
    rows: moment.moved.map((value, k) => rows[k] + share * (value - rows[k])),
    extra: moment.spread.map((value) => share * value),
    shift: null,
  };
}

function same(first, second) {
  return first === second || (first.length === second.length && first.every((v, k) => v === second[k]));
}

// [𝒯*M]_ij = ‖m_i - m_j‖² (+ the shift's part) for all pairs i < j, row by row.
function edgeCosts({ rows, extra, shift }, d) {
  const count = (rows.length + extra.length) / d;
  const columns = new Float64Array(d * count);
  for (let r = 0; r < count; r++) {
    const source = r * d < rows.length ? rows : extra;
    const start = r * d < rows.length ? r * d : r * d - rows.length;
    for (let i = 0; i < d; i++) columns[i * count + r] = source[start + i];
  }
  const costs = new Float64Array((d * (d - 1)) / 2);
  for (let i = 0, e = 0; i < d; i++) {
    for (let j = i + 1; j < d; j++, e++) {
      let square = 0;
      for (let r = 0, a = i * count, b = j * count; r < count; r++, a++, b++) {
        const difference = columns[a] - columns[b];
        square += difference * difference;
      }
      if (shift) square += shift[i * d + i] + shift[j * d + j] - 2 * shift[i * d + j];
      costs[e] = square;
    }
  }
  return costs;
}

// Weak duality: -Σ(p₊)²/8η - Σν²/4η + τT/2 with p = τ - c - ν_i - ν_j, at the best τ, where
// Σ(τ - level)₊ = 2ηT. Sorted levels tell how many edges are in use.
function dualBound(costs, nu, d, eta, trace) {
  const levels = new Float64Array(costs.length);
  for (let i = 0, e = 0; i < d; i++) {
    for (let j = i + 1; j < d; j++, e++) levels[e] = costs[e] + nu[i] + nu[j];
  }
  levels.sort();
  const base = levels[0], target = 2 * eta * trace;
  let used = 0, sum = 0, tau = 0;
  while (used < levels.length) {
    sum += levels[used] - base;
    used++;
    tau = (target + sum) / used;
    if (used === levels.length || tau <= levels[used] - base) break;
  }
  let value = ((base + tau) * trace) / 2;
  for (let i = 0; i < d; i++) value -= (nu[i] * nu[i]) / (4 * eta);
  let paid = 0;
  for (let e = 0; e < used; e++) {
    const price = tau - (levels[e] - base);
    paid += price * price;
  }
  return value - paid / (8 * eta);
}

export function relativeGap(value, bound, constant) {
  if (!Number.isFinite(value) || !Number.isFinite(bound)) return Infinity;
  const paid = constant >= 0 && constant <= bound ? constant : 0;
  const scale = Math.max(Math.abs(value - paid), Math.abs(bound - paid));
  return scale === 0 ? (value === bound ? 0 : Infinity) : (value - bound) / scale;
}
