// The page's own judge: bound ≤ optimum ≤ value, from the data of the page alone.
// It shares no line with the judge in Python, and proves the same two numbers in another way:
// positive definiteness by Cholesky, the risk at one γ, costs by differences, τ by sorting.
// Both numbers are rounded outwards, by a bound of the rounding in every sum, so that no graph is
// proved by rounding alone.
import { canonical } from "./canonical.js";
import { rounding } from "./linalg.js";
import { alignedShift, degrees, entrywiseNorm, topDirection, worstTransport } from "./worst.js";

const NONE = new Float64Array(0);

// Takes { d, set, p, trace, rows, rowCount, radius, eta, graph, multiplier, nu, moment }; throws an
// Error that says what is wrong where they are not exactly as they have to be.
export function judge(task) {
  canonical(task);
  const { d, p, trace, rows, rowCount, radius, eta } = task;
  // For p = ∞ every graph of this trace pays the same for the shift. What is left is the sample
  // average, and the gap is relative to that; in a difference of large numbers it would be lost.
  const constant = task.set === "moment" && p === null ? radius * 2 * trace : 0;
  const set = task.set === "moment" && p === null ? "single" : task.set;
  const { graph, repair } = feasible(task.graph, trace);
  const degree = degrees(graph, d);
  let squares = 0;
  for (const weight of graph.weights) squares += 2 * weight * weight;
  for (const value of degree) squares += value * value;
  let value = nominalRisk(graph, rows, rowCount, d) + eta * squares;
  const moments = [];
  if (set === "transport") {
    const worst = worstTransport(graph, rows, rowCount, d, radius, task.multiplier);
    value += worst.premium;
    let spread = NONE;
    if (worst.left > 1e-12 * radius * radius && worst.factor) {
      spread = topDirection(worst.factor, d).map((v) => v * Math.sqrt(worst.left));
    }
    moments.push({ moved: worst.moved, spread, shift: null });
  } else if (set === "moment") {
    const { norm, shift } = alignedShift(graph, degree, d, p);
    value += radius * norm;
    moments.push({ moved: null, spread: null, shift: shift.map((v) => v * radius) });
  } else {
    moments.push({ moved: rows, spread: NONE, shift: null });
  }
  // All terms are nonnegative; rounding in the scale of the weights counts as well.
  value *= 1 + rounding(2 * graph.weights.length + rowCount + 2 * d);
  if (task.moment && set === task.set) moments.push(task.moment);
  const multipliers = [degree.map((value) => 2 * eta * value)];
  if (task.nu) multipliers.push(task.nu);
  let bound = -Infinity;
  for (const moment of moments) {
    const inside = set === "moment" ? shiftInside(moment, task) : movesInside(moment, rows, set === "transport" ? radius : 0);
    if (inside === null) continue;
    const costs = edgeCosts(inside, d);
    for (const nu of multipliers) bound = Math.max(bound, dualBound(costs, nu, d, eta, trace));
  }
  return { value: value + constant, bound: bound + constant, gap: relativeGap(value, bound), repair };
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

// The shift of a moment, made smaller until it is seen to be in the ball.
function shiftInside({ shift }, { rows, p, radius }) {
  const size = entrywiseNorm(shift, p) * (1 + rounding(shift.length));
  const share = size <= radius ? 1 : radius / size;
  return { rows, extra: NONE, shift: shift.map((value) => share * value) };
}

// The rows of a moment, moved less until they are seen to be in the ball. What is measured is what
// is charged, after rounding; null if a few attempts do not get it inside.
function movesInside({ moved, spread }, rows, radius) {
  for (let attempt = 0, share = 1; attempt < 20; attempt++) {
    const inside = {
      rows: moved.map((value, k) => rows[k] + share * (value - rows[k])),
      extra: spread.map((value) => share * value),
      shift: null,
    };
    let cost = 0;
    for (let k = 0; k < rows.length; k++) cost += (inside.rows[k] - rows[k]) ** 2;
    for (const value of inside.extra) cost += value * value;
    const size = Math.sqrt(cost) * (1 + rounding(rows.length + spread.length));
    if (size <= radius) return inside;
    share *= (radius / size) * (1 - 1e-15 * 4 ** attempt);
  }
  return null;
}

// [𝒯*M]_ij = ‖m_i - m_j‖² (+ the shift's part) for all pairs i < j, row by row, rounded down.
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
      let cost = square, size = square;
      if (shift) {
        const [own, other, both] = [shift[i * d + i], shift[j * d + j], 2 * shift[i * d + j]];
        cost += own + other - both;
        size += Math.abs(own) + Math.abs(other) + Math.abs(both);
      }
      costs[e] = cost - rounding(count) * size;
    }
  }
  return costs;
}

// Weak duality: -Σ(p₊)²/8η - Σν²/4η + τT/2 with p = τ - c - ν_i - ν_j, at the best τ, where
// Σ(τ - level)₊ = 2ηT. Sorted levels tell how many edges are in use. Levels are rounded down, prices
// up and the sum down, so that rounding only makes the bound lower.
function dualBound(costs, nu, d, eta, trace) {
  const few = 4 * Number.EPSILON;
  const levels = new Float64Array(costs.length);
  for (let i = 0, e = 0; i < d; i++) {
    for (let j = i + 1; j < d; j++, e++) {
      levels[e] = costs[e] + nu[i] + nu[j] - few * (Math.abs(costs[e]) + Math.abs(nu[i]) + Math.abs(nu[j]));
    }
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
  let kept = 0, paid = 0, terms = d;
  for (const value of nu) kept += value * value;
  for (const level of levels) {
    const price = tau - (level - base) + few * (tau + Math.abs(level) + Math.abs(base));
    if (price <= 0) continue;
    paid += price * price;
    terms++;
  }
  kept /= 4 * eta;
  paid /= 8 * eta;
  const income = ((base + tau) * trace) / 2;
  return income - kept - paid - rounding(terms) * (Math.abs(income) + kept + paid);
}

// The gap relative to the larger of both in size; infinite where either is not a number.
function relativeGap(value, bound) {
  if (!Number.isFinite(value) || !Number.isFinite(bound)) return Infinity;
  return (value - bound) / Math.max(Math.abs(value), Math.abs(bound));
}
