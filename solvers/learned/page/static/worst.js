// The worst case over the paper's sets, as an upper bound of the risk that holds for every γ:
//   R(L) ≤ ⟨Θ, L⟩ + γε² + Tr(F L (γI - L)⁻¹ L Fᵀ)   whenever γI - L is positive definite.
// The γ that comes with the data is only a hint; a poor one gives a poor bound, never a wrong one.
import { cholesky, choleskySolve, rounding } from "./linalg.js";

export function degrees(graph, d) {
  const found = new Float64Array(d);
  for (let e = 0; e < graph.weights.length; e++) {
    found[graph.heads[e]] += graph.weights[e];
    found[graph.tails[e]] += graph.weights[e];
  }
  return found;
}

// y = L x, from the edges: differences of large and nearly equal entries keep their digits.
export function applyLaplacian(graph, x, y) {
  y.fill(0);
  for (let e = 0; e < graph.weights.length; e++) {
    const i = graph.heads[e], j = graph.tails[e];
    const flow = graph.weights[e] * (x[i] - x[j]);
    y[i] += flow;
    y[j] -= flow;
  }
}

// The factor of γI - L for the smallest γ at or just above the hint for which there is one.
export function factorAbove(graph, d, hint) {
  const degree = degrees(graph, d);
  const top = 2 * degree.reduce((a, b) => Math.max(a, b), 0);
  // The largest eigenvalue is between the largest degree and twice that.
  let gamma = Number.isFinite(hint) && hint > 0 ? Math.min(Math.max(hint, top / 2), top * 1e6) : top * 1.5;
  for (let lift = 1e-12; lift < 1e3; lift *= 8) {
    const a = new Float64Array(d * d);
    for (let i = 0; i < d; i++) a[i * d + i] = gamma - degree[i];
    for (let e = 0; e < graph.weights.length; e++) {
      a[graph.heads[e] * d + graph.tails[e]] += graph.weights[e];
      a[graph.tails[e] * d + graph.heads[e]] += graph.weights[e];
    }
    if (cholesky(a, d, 4 * d * Number.EPSILON * gamma)) return { a, gamma };
    gamma *= 1 + lift;
  }
  throw new Error("no γ above the eigenvalues was found");
}

// Solves (γI - L)x = b in place by conjugate gradients, for graphs whose factor has no room; false
// where γ is not above the eigenvalues or they are too near. Nothing is proved with it.
export function conjugateSolve(graph, d, gamma, x) {
  const size = (v) => v.reduce((sum, value) => sum + value * value, 0);
  const rest = Float64Array.from(x), step = Float64Array.from(x), image = new Float64Array(d);
  let square = size(rest);
  const goal = 1e-20 * square;
  x.fill(0);
  for (let n = 0; n < 500 && square > goal; n++) {
    applyLaplacian(graph, step, image);
    let curvature = 0;
    for (let i = 0; i < d; i++) { image[i] = gamma * step[i] - image[i]; curvature += step[i] * image[i]; }
    if (!(curvature > 0)) return false;
    const far = square / curvature;
    for (let i = 0; i < d; i++) { x[i] += far * step[i]; rest[i] -= far * image[i]; }
    const next = size(rest);
    for (let i = 0; i < d; i++) step[i] = rest[i] + (next / square) * step[i];
    square = next;
  }
  return square <= goal;
}

// Where the worst case takes the rows, what it pays for that, and how much of ε² is left over. The
// premium is rounded upwards. Rounding makes the factor that of γI - L + E with ‖E‖ ≤ margin; with
// twice the margin added to γ, γI - L ≥ margin·I for certain. And for any x, however computed,
//   bᵀ(γI - L)⁻¹b ≤ bᵀx + xᵀr + ‖r‖²/margin,   r = b - (γI - L)x.
// Rounding in b = Lf and in r counts in proportion to γ‖x‖² and ⟨f, Lf⟩; the value has both.
export function worstTransport(graph, rows, count, d, radius, hint) {
  if (radius === 0) return { premium: 0, moved: rows, left: 0, factor: null };
  const factor = factorAbove(graph, d, hint);
  const margin = (factor.gamma * (d + 2) ** 2 * Number.EPSILON) / 2;
  const gamma = factor.gamma + 2 * margin;
  const moves = new Float64Array(count * d);
  const pull = new Float64Array(d), image = new Float64Array(d);
  let quadratic = 0, cost = 0;
  for (let r = 0; r < count; r++) {
    applyLaplacian(graph, rows.subarray(r * d, (r + 1) * d), pull);
    const move = moves.subarray(r * d, (r + 1) * d);
    move.set(pull);
    choleskySolve(factor.a, d, move);
    applyLaplacian(graph, move, image);
    let form = 0, square = 0;
    for (let i = 0; i < d; i++) {
      const rest = pull[i] - gamma * move[i] + image[i];
      form += pull[i] * move[i] + move[i] * rest + (rest * rest) / margin;
      square += move[i] * move[i];
    }
    quadratic += form;
    cost += square;
  }
  // Rounding, or a γ off its place, may leave the ball by a little: shorter moves are inside.
  const share = cost > 0 ? Math.min(1, (radius / Math.sqrt(cost)) * (1 - 1e-14)) : 1;
  const moved = new Float64Array(count * d);
  for (let k = 0; k < moved.length; k++) moved[k] = rows[k] + share * moves[k];
  const left = Math.max(radius * radius - share * share * cost, 0);
  const size = gamma * (radius * radius + cost) + Math.abs(quadratic);
  return { premium: gamma * radius * radius + quadratic + rounding(4 * d + count) * size, moved, left, factor };
}

// In the hard case the rest of the budget spreads the signals along a top eigenvector of L, which
// γI - L, all but singular there, gives by inverse iteration.
export function topDirection(factor, d) {
  const x = new Float64Array(d);
  for (let i = 0; i < d; i++) x[i] = Math.sin(1 + 2.7 * i);
  for (let step = 0; step < 30; step++) {
    choleskySolve(factor.a, d, x);
    const size = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
    for (let i = 0; i < d; i++) x[i] /= size;
  }
  return x;
}

// ‖vec L‖_q and the matrix Δ of unit p-norm that attains it, 1/p + 1/q = 1 (p = null: infinity).
export function alignedShift(graph, degree, d, p) {
  const shift = new Float64Array(d * d);
  const put = (i, j, value) => { shift[i * d + j] = value; shift[j * d + i] = value; };
  const { heads, tails, weights } = graph;
  const largest = Math.max(degree.reduce((a, b) => Math.max(a, b), 0), Number.MIN_VALUE);
  if (p === null) {
    shift.fill(-1);
    let total = 0;
    for (let i = 0; i < d; i++) { shift[i * d + i] = 1; total += 2 * degree[i]; }
    return { norm: total, shift };
  }
  if (p === 1) {
    // A weight as large as a degree is that of an edge between two vertices without any other.
    const ties = [];
    for (let i = 0; i < d; i++) if (degree[i] === largest) ties.push([i, i, 1]);
    for (let e = 0; e < weights.length; e++) {
      if (weights[e] === largest) ties.push([heads[e], tails[e], -1], [tails[e], heads[e], -1]);
    }
    for (const [i, j, sign] of ties) shift[i * d + j] = sign / ties.length;
    return { norm: largest, shift };
  }
  const q = p / (p - 1);
  let total = 0;
  for (let i = 0; i < d; i++) total += (degree[i] / largest) ** q;
  for (let e = 0; e < weights.length; e++) total += 2 * (weights[e] / largest) ** q;
  const scale = total ** (1 / q - 1);
  for (let i = 0; i < d; i++) put(i, i, (degree[i] / largest) ** (q - 1) * scale);
  for (let e = 0; e < weights.length; e++) {
    put(heads[e], tails[e], -((weights[e] / largest) ** (q - 1)) * scale);
  }
  return { norm: largest * total ** (1 / q), shift };
}

export function entrywiseNorm(matrix, p) {
  const largest = matrix.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  if (p === null || largest === 0) return largest;
  return largest * matrix.reduce((sum, value) => sum + (Math.abs(value) / largest) ** p, 0) ** (1 / p);
}
