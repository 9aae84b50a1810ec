// The curves of a comparison: what is drawn for a measure, and the figure.

const MEASURES = {
  time: { label: "CPU seconds", of: (run) => run.total_s, limit: (run) => run.limit_s },
  memory: { label: "peak memory (MiB)", of: (run) => run.peak_mb, limit: (run) => run.limit_mb },
  gap: { label: "judged relative gap", of: (run) => (run.gap > 0 ? run.gap : null), limit: () => null },
};
const APART = 1.05;
const STOPPED = new Set(["time-out", "out of memory"]);

// Medians over the seeds of what was solved, one point per method and size.
function medians(runs, of) {
  const groups = d3.rollups(runs.filter((run) => run.solved && of(run) !== null), (part) => d3.median(part, of), (run) => run.method, (run) => run.d);
  return groups.flatMap(([method, sizes]) => sizes.map(([d, y]) => ({ method, d, y }))).sort((a, b) => a.d - b.d);
}

// The fastest of our own solvers at every size is what the others are compared with.
function reference(points, families) {
  return d3.rollup(points.filter(({ method }) => families.get(method) === "our solvers"), (part) => d3.min(part, ({ y }) => y), ({ d }) => d);
}

export function curves(runs, measure, families) {
  const { label, of, limit } = MEASURES[measure === "ratio" ? "time" : measure];
  let points = medians(runs, of);
  let marks = runs.filter((run) => STOPPED.has(run.outcome)).map((run) => ({ method: run.method, d: run.d, y: limit(run), outcome: run.outcome }));
  if (measure === "ratio") {
    const ours = reference(points, families);
    const relative = (list) => list.filter(({ d }) => ours.has(d)).map((point) => ({ ...point, y: point.y / ours.get(point.d) }));
    points = relative(points);
    marks = relative(marks);
  }
  return { points, marks: sideBySide(marks.filter(({ y }) => y !== null)), label: measure === "ratio" ? "CPU time relative to the fastest of ours" : label };
}

// Several methods may hit one limit at one size.
function sideBySide(marks) {
  const groups = d3.groups(marks, ({ d }) => d, ({ y }) => y).flatMap(([, levels]) => levels.map(([, group]) => group));
  return groups.flatMap((group) => group.map((mark, k) => ({ ...mark, at: mark.d * APART ** (k - (group.length - 1) / 2) })));
}

// The sizes that have room on a logarithmic axis of so many pixels, the first and the last among them.
export function spaced(sizes, pixels, apart = 28) {
  const length = Math.log(sizes.at(-1) / sizes[0]) || 1;
  const at = (d) => (pixels * Math.log(d / sizes[0])) / length;
  const kept = [];
  for (const d of sizes) if (!kept.length || at(d) - at(kept.at(-1)) >= apart) kept.push(d);
  if (kept.at(-1) !== sizes.at(-1)) kept.splice(-1, 1, sizes.at(-1));
  return kept;
}

// A little more than what is drawn, and whole powers of ten within it.
function heights(values) {
  const [low, high] = d3.extent(values);
  if (!(low > 0)) return { domain: [0.1, 10], ticks: [0.1, 1, 10] };
  const domain = [low / 1.5, high * 1.8];
  const powers = d3.range(Math.ceil(Math.log10(domain[0])), Math.floor(Math.log10(domain[1])) + 1).map((k) => 10 ** k);
  return { domain, ticks: powers.length > 1 ? powers : undefined };
}

export function figure({ points, marks, label }, methods, width, target) {
  const style = new Map(methods.map((method) => [method.name, method]));
  const colour = ({ method }) => style.get(method).colour;
  const title = ({ method, d, y, outcome }) => `${method}, d = ${d}: ${outcome || Number(y.toPrecision(3))}`;
  const sizes = d3.sort(new Set([...points, ...marks].map(({ d }) => d)));
  const goal = label.startsWith("judged");
  const inView = [...points, ...marks].map(({ y }) => y);
  return Plot.plot({
    className: "plot", width, height: Math.min(460, Math.max(300, width * 0.55)), marginLeft: 60, grid: true,
    ariaLabel: `${label} against the number of vertices`,
    x: { type: "log", label: "vertices d", ticks: sizes.length ? spaced(sizes, width - 100) : [], tickFormat: (d) => String(d), domain: sizes.length > 1 ? [sizes[0] / 1.1, sizes.at(-1) * 1.15] : sizes.length ? [sizes[0] / 2, sizes[0] * 2] : [1, 10] },
    y: { type: "log", label, tickFormat: "~g", ...heights(goal ? [...inView, target] : inView) },
    color: { type: "identity" },
    symbol: { type: "identity" },
    marks: [
      goal ? Plot.ruleY([target], { stroke: "currentColor", strokeDasharray: "3 3" }) : null,
      ...methods.map(({ name, colour: stroke, dash }) => Plot.line(points.filter(({ method }) => method === name), { x: "d", y: "y", stroke, strokeDasharray: dash || null, strokeWidth: 1.8 })),
      Plot.dot(points, { x: "d", y: "y", fill: colour, symbol: ({ method }) => style.get(method).symbol, r: 4, title }),
      Plot.dot(marks, { x: "at", y: "y", stroke: colour, symbol: ({ method }) => style.get(method).symbol, r: 7 }),
      Plot.dot(marks, { x: "at", y: "y", stroke: colour, symbol: "times", r: 3.5, strokeWidth: 2, title }),
    ],
  });
}
