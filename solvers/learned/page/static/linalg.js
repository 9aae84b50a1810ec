// Cholesky's factorisation and its solves, in place, on flat arrays. A factorisation that succeeds
// is the proof that a matrix is positive definite; no eigenvalue is ever computed.

// A sum of so many numbers, each rounded a few times, is right to this share of their sizes.
export function rounding(terms) {
  return (terms + 64) * Number.EPSILON;
}

// Overwrites the lower triangle of the symmetric n × n matrix; returns false unless every pivot is
// above what rounding could have made of zero.
export function cholesky(a, n, floor) {
  for (let j = 0; j < n; j++) {
    const row = j * n;
    let pivot = a[row + j];
    for (let k = 0; k < j; k++) pivot -= a[row + k] * a[row + k];
    if (!(pivot > floor)) return false;
    const root = Math.sqrt(pivot);
    a[row + j] = root;
    for (let i = j + 1; i < n; i++) {
      const other = i * n;
      let sum = a[other + j];
      for (let k = 0; k < j; k++) sum -= a[other + k] * a[row + k];
      a[other + j] = sum / root;
    }
  }
  return true;
}

// Solves L Lᵀ x = b in place.
export function choleskySolve(a, n, x) {
  for (let i = 0; i < n; i++) {
    const row = i * n;
    let sum = x[i];
    for (let k = 0; k < i; k++) sum -= a[row + k] * x[k];
    x[i] = sum / a[row + i];
  }
  // By columns of Lᵀ, that is by rows of L, so that memory is read in order.
  for (let i = n - 1; i >= 0; i--) {
    const row = i * n;
    const value = x[i] / a[row + i];
    x[i] = value;
    for (let k = 0; k < i; k++) x[k] -= a[row + k] * value;
  }
}
