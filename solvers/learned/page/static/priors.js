// What a graph costs by itself, and the dual bound that belongs to it, for the two priors:
//   frobenius:  η‖L‖² = 2η‖w‖² + η Σ deg²  with a fixed trace;
//   log-degree: 2β‖w‖² - α Σ log deg       without a trace.
// Costs are rounded up and bounds down.
import { rounding } from "./linalg.js";

const FEW = 4 * Number.EPSILON;
const ISOLATED = 1e-12; // relative to the mean degree

// The prior of a task that is in order, as functions of a graph and its degrees.
export function priorOf({ prior, d, eta, trace, alpha, beta }) {
  if (prior === "frobenius") {
    return {
      floor: 0,
      feasible: (graph) => feasible(graph, trace),
      squares: (graph, degree) => eta * (2 * sumOfSquares(graph.weights) + sumOfSquares(degree)),
      logs: () => 0,
      multipliers: (degree) => degree.map((value) => 2 * eta * value),
      bound: (costs, nu) => fixedTraceBound(costs, nu, d, eta, trace),
    };
  }
  return {
    floor: alpha * d,
    feasible: (graph) => feasible(graph, null),
    squares: (graph) => 2 * beta * sumOfSquares(graph.weights),
    logs: (degree) => safeLogs(degree, alpha),
    multipliers: (degree) => logMultipliers(degree, alpha),
    bound: (costs, nu) => logDegreeBound(costs, nu, d, alpha, beta),
  };
}

function sumOfSquares(values) {
  let sum = 0;
  for (const value of values) sum += value * value;
  return sum;
}

// Negative weights become zero, and for a fixed trace the rest is scaled to it; what that changed is
// reported, relative to the trace.
function feasible({ heads, tails, weights: given }, trace) {
  let sum = 0;
  for (const weight of given) sum += Math.max(weight, 0);
  const factor = trace === null ? 1 : trace / (2 * sum);
  const weights = given.map((weight) => Math.max(weight, 0) * factor);
  let change = 0;
  for (let e = 0; e < weights.length; e++) change += Math.abs(weights[e] - given[e]);
  return { graph: { heads, tails, weights }, repair: (2 * change) / (trace === null ? 2 * sum : trace) };
}

// -α Σ log deg, rounded up; infinite for an isolated vertex. A degree is right to d roundings, which
// moves its logarithm by as much; Math.log is right to a few units in the last place.
function safeLogs(degree, alpha) {
  let sum = 0, size = 0;
  for (const value of degree) {
    if (!(value > 0)) return Infinity;
    const log = Math.log(value);
    sum += log;
    size += 1 + Math.abs(log);
  }
  return alpha * (rounding(2 * degree.length) * size - sum);
}

// The derivative of -α log at the degrees, with a positive least degree.
function logMultipliers(degree, alpha) {
  const least = (ISOLATED * degree.reduce((a, b) => a + b, 0)) / degree.length;
  return degree.map((value) => -alpha / Math.max(value, least));
}

// c_ij + ν_i + ν_j, rounded down.
function safeLevels(costs, nu, d) {
  const levels = new Float64Array(costs.length);
  for (let i = 0, e = 0; i < d; i++) {
    for (let j = i + 1; j < d; j++, e++) {
      levels[e] = costs[e] + nu[i] + nu[j] - FEW * (Math.abs(costs[e]) + Math.abs(nu[i]) + Math.abs(nu[j]));
    }
  }
  return levels;
}

// Weak duality: -Σ(p₊)²/8η - Σν²/4η + τT/2 with p = τ - c - ν_i - ν_j, at the best τ, where
// Σ(τ - level)₊ = 2ηT. Sorted levels tell how many edges are in use. Levels are rounded down, prices
// up and the sum down, so that rounding only makes the bound lower.
function fixedTraceBound(costs, nu, d, eta, trace) {
  const levels = safeLevels(costs, nu, d).sort();
  const base = levels[0], target = 2 * eta * trace;
  let used = 0, sum = 0, tau = 0;
  while (used < levels.length) {
    sum += levels[used] - base;
    used++;
    tau = (target + sum) / used;
    if (used === levels.length || tau <= levels[used] - base) break;
  }
  let paid = 0, terms = d;
  for (const level of levels) {
    const price = tau - (level - base) + FEW * (tau + Math.abs(level) + Math.abs(base));
    if (price <= 0) continue;
    paid += price * price;
    terms++;
  }
  const kept = sumOfSquares(nu) / (4 * eta);
  paid /= 8 * eta;
  const income = ((base + tau) * trace) / 2;
  return income - kept - paid - rounding(terms) * (Math.abs(income) + kept + paid);
}

// Weak duality without a trace: -Σ(p₊)²/8β - Σφ*(ν_i) with p = -c - ν_i - ν_j and
// φ*(ν) = max νu + α log u = α log(-α/ν) - α. Where some ν ≥ 0 the maximum is infinite and nothing is
// proved. The rounding of -α/ν moves its logarithm by as much, which the α in the size allows for.
function logDegreeBound(costs, nu, d, alpha, beta) {
  let kept = 0, size = 0;
  for (const value of nu) {
    if (!(value < 0)) return -Infinity;
    const log = Math.log(-alpha / value);
    kept += log - 1;
    size += 2 + Math.abs(log);
  }
  let paid = 0, terms = d;
  for (const level of safeLevels(costs, nu, d)) {
    if (level >= 0) continue; // not so for NaN, which must reach the sum
    paid += level * level;
    terms++;
  }
  paid /= 8 * beta;
  return -paid - alpha * kept - rounding(terms) * (paid + alpha * size);
}
