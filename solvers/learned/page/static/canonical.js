// What the judge accepts: data in the one form that Python writes, and nothing else. Every field
// that the judge reads is checked here, so that its formulas hold for whatever comes through.

const SETS = ["transport", "moment", "single"], PRIORS = ["frobenius", "log-degree"];
// No product of such numbers overflows unseen, and none that vanishes is missed in the value, which
// is at least η·trace²/d, or in the allowance for the rounding of logarithms, a share of αd.
const LARGEST = 1e100, SMALLEST_SCALAR = 1e-60, LARGEST_SCALAR = 1e60;

// Throws an Error with one sentence that says what is wrong.
export function canonical(task) {
  const { d, set, p, rows, rowCount, radius, graph, multiplier, nu, moment } = task;
  must(SETS.includes(set), `the set must be one of ${SETS.join(", ")}`);
  must(Number.isInteger(d) && d >= 2, "the number of vertices must be a whole number from 2 on");
  must(p === null || (Number.isFinite(p) && p >= 1), "p must be null, for infinity, or a number from 1 on");
  if (radius !== 0) scalar("a radius that is not zero", radius);
  must(set !== "single" || radius === 0, "a single distribution must have the radius zero");
  must(multiplier === null || (Number.isFinite(multiplier) && multiplier >= 0), "the multiplier must be null or a number from 0 on");
  must(Number.isInteger(rowCount) && rowCount >= 1, "the number of rows must be a whole number from 1 on");
  numbers("the rows", rows, rowCount * d);
  if (nu !== null) numbers("nu", nu, d);
  edges(graph, d);
  strengths(task);
  must(typeof moment === "object", "the moment must be null or its parts");
  if (moment !== null) evidence(moment, set, d, rows.length);
}

// Every prior has its own numbers, and those of the other are null. The eta that is shown for a
// log-degree prior is the root of alpha times beta.
function strengths({ prior, eta, trace, alpha, beta, graph }) {
  must(PRIORS.includes(prior), `the prior must be one of ${PRIORS.join(", ")}`);
  scalar("eta", eta);
  if (prior === "frobenius") {
    scalar("the trace", trace);
    must(alpha === null && beta === null, "alpha and beta must be null under the Frobenius prior");
    return;
  }
  must(trace === null, "the trace must be null under the log-degree prior");
  scalar("alpha", alpha);
  scalar("beta", beta);
  must(Math.abs(eta * eta - alpha * beta) <= 1e-12 * eta * eta, "eta must be the root of alpha times beta");
  // Weights are not scaled to a trace under this prior.
  scalar("the sum of the weights", graph.weights.reduce((sum, weight) => sum + Math.max(weight, 0), 0));
}

function must(holds, sentence) {
  if (!holds) throw new Error(sentence);
}

function scalar(name, value) {
  must(
    typeof value === "number" && value >= SMALLEST_SCALAR && value <= LARGEST_SCALAR,
    `${name} must be a number from ${SMALLEST_SCALAR} to ${LARGEST_SCALAR}`,
  );
}

// Other types of arrays would round, or wrap around, what is computed from them.
function numbers(name, array, length) {
  must(array instanceof Float64Array, `${name} must be packed as float64`);
  must(array.length === length, `${name} must be ${length} numbers, not ${array.length}`);
  must(array.every((value) => Math.abs(value) <= LARGEST), `${name} must be finite and at most ${LARGEST} in size`);
}

// Negative weights are let through: the judge makes them zero and reports by how much that changed
// the graph.
function edges({ heads, tails, weights }, d) {
  for (const ends of [heads, tails]) {
    must(ends instanceof Uint16Array || ends instanceof Uint32Array, "the ends of edges must be packed as uint16 or uint32");
  }
  must(heads.length === tails.length, "every edge must have two ends");
  numbers("the weights", weights, heads.length);
  must(weights.some((weight) => weight > 0), "some edge must have a positive weight");
  let last = -1;
  for (let e = 0; e < heads.length; e++) {
    must(heads[e] < tails[e] && tails[e] < d, `edge ${e} must join two vertices, the smaller one first`);
    const place = heads[e] * d + tails[e];
    must(place > last, `edge ${e} must come after the one before it, and only once`);
    last = place;
  }
}

function evidence({ moved, spread, shift }, set, d, length) {
  if (set === "moment") {
    must(moved === null && spread === null, "a moment of this set must be a shift alone");
    numbers("the shift", shift, d * d);
    for (let i = 0; i < d; i++) {
      for (let j = 0; j < i; j++) must(shift[i * d + j] === shift[j * d + i], "the shift must be symmetric");
    }
    return;
  }
  must(shift === null, "a moment of this set must have no shift");
  numbers("the moved rows", moved, length);
  must(spread instanceof Float64Array && spread.length % d === 0, `the spread must be packed as float64, in rows of ${d}`);
  numbers("the spread", spread, spread.length);
}
