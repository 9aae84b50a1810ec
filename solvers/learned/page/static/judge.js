// The page's own judge: bound ≤ optimum ≤ value, from the data of the page alone.
// It shares no line with the judge in Python, and proves the same two numbers in another way:
// positive definiteness by Cholesky, the risk at one γ, costs by differences, τ by sorting.
// Both numbers are rounded outwards, by a bound of the rounding in every sum, so that no graph is
// proved by rounding alone.
import { canonical } from "./canonical.js";
import { rounding } from "./linalg.js";
import { priorOf } from "./priors.js";
import { alignedShift, degrees, entrywiseNorm, topDirection, worstTransport } from "./worst.js";

const NONE = new Float64Array(0);

// Takes { d, set, p, prior, trace, alpha, beta, rows, rowCount, radius, eta, graph, multiplier, nu,
// moment }; throws an Error that says what is wrong where they are not exactly as they have to be.
export function judge(task) {
  canonical(task);
  const { d, p, trace, rows, rowCount, radius } = task;
  const prior = priorOf(task);
  // For p = ∞ every graph of this trace pays the same for the shift. What is left is the sample
  // average, and the gap is relative to that; in a difference of large numbers it would be lost.
  const alike = task.set === "moment" && p === null && trace !== null;
  const constant = alike ? radius * 2 * trace : 0;
  const set = alike ? "single" : task.set;
  const { graph, repair } = prior.feasible(task.graph);
  const degree = degrees(graph, d);
  let value = nominalRisk(graph, rows, rowCount, d) + prior.squares(graph, degree);
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
  // All terms but the logarithms are nonnegative; rounding in the scale of the weights counts as well.
  value *= 1 + rounding(2 * graph.weights.length + rowCount + 2 * d);
  value += prior.logs(degree);
  if (task.moment && set === task.set) moments.push(task.moment);
  const multipliers = [prior.multipliers(degree)];
  if (task.nu) multipliers.push(task.nu);
  let bound = -Infinity;
  for (const moment of moments) {
    const inside = set === "moment" ? shiftInside(moment, task) : movesInside(moment, rows, set === "transport" ? radius : 0);
    if (inside === null) continue;
    const costs = edgeCosts(inside, d);
    for (const nu of multipliers) bound = Math.max(bound, prior.bound(costs, nu));
  }
  return { value: value + constant, bound: bound + constant, gap: relativeGap(value, bound, prior.floor), repair };
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

// The gap relative to the larger of both in size, and at least to the floor, because values under
// logarithms may be zero; infinite where either is not a number.
function relativeGap(value, bound, floor) {
  if (!Number.isFinite(value) || !Number.isFinite(bound)) return Infinity;
  return (value - bound) / Math.max(Math.abs(value), Math.abs(bound), floor);
}
