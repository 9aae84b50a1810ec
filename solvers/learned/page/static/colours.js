// What a vertex's colour says, and the legend that tells it.
import { element, figures } from "./text.js";

const BAR = { width: 90, height: 10, steps: 30 }; // pixels

const SCREENS = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));

// Colours that are written out have to be written again for another screen, or for paper.
export function onScheme(redraw) {
  for (const screen of SCREENS) screen.addEventListener("change", redraw);
}

// One source, the style sheet, so that vertices and edges never follow different schemes.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: read("ink"), paper: read("paper"), edge: read("edge"), outline: read("outline"), mark: read("mark"), dark: read("scheme") === "dark" };
}

// The communities of at least two vertices, with their sizes; a vertex alone is in none.
export function communities(data) {
  const sizes = d3.rollup(data.community, (part) => part.length, (label) => label);
  return new Map([...sizes].filter(([, size]) => size > 1).sort((a, b) => a[0] - b[0]));
}

// No two communities share a colour: the last of the palette is grey, for all that come after.
function byCommunity(data, dark) {
  const palette = data.palette.map((c) => (dark && c.toLowerCase() === "#000000" ? "#ffffff" : c));
  const own = palette.length - 1;
  const sizes = communities(data);
  const keys = [...sizes.keys()].filter((k) => k < own).map((k) => [palette[k], `${k + 1} (${sizes.get(k)})`]);
  const rest = [...sizes.keys()].filter((k) => k >= own).length;
  if (rest) keys.push([palette[own], `${rest} smaller`]);
  return { fill: (i) => palette[sizes.has(data.community[i]) ? Math.min(data.community[i], own) : own], keys };
}

// The ends of the scale that the paper would swallow are left out.
function byNumber(values, dark) {
  const [low, high] = d3.extent(values);
  const shade = (share) => d3.interpolateViridis(dark ? 0.22 + 0.78 * share : 0.93 * share);
  const scale = d3.scaleSequential(shade).domain(low === high ? [low - 1, high + 1] : [low, high]);
  return { fill: (i) => scale(values[i]), bar: { shade, low, high } };
}

export function colouring(data, degree, mode, dark, isChosen) {
  if (mode === "community") {
    return { ...byCommunity(data, dark), caption: isChosen ? "community" : "community in the chosen graph" };
  }
  const column = data.columns.find(({ name }) => name === mode);
  return { ...byNumber(column ? column.values : degree, dark), keys: [], caption: column ? mode : "degree" };
}

const drawing = (width, height) => d3.create("svg").attr("width", width).attr("height", height).attr("aria-hidden", "true");

function dot(fill, stroke) {
  const svg = drawing(12, 12);
  svg.append("circle").attr("cx", 6).attr("cy", 6).attr("r", 5).attr("fill", fill).attr("stroke", stroke);
  return svg.node();
}

function stroke(width, dash) {
  const svg = drawing(22, 12);
  svg.append("line").attr("x1", 1).attr("x2", 21).attr("y1", 6).attr("y2", 6).attr("stroke", "currentColor").attr("stroke-width", width).attr("stroke-dasharray", dash);
  return svg.node();
}

function bar({ shade, low, high }) {
  const svg = drawing(BAR.width, BAR.height), step = BAR.width / BAR.steps;
  for (let k = 0; k < BAR.steps; k++) svg.append("rect").attr("x", k * step).attr("width", step + 0.5).attr("height", BAR.height).attr("fill", shade(k / (BAR.steps - 1)));
  return element("span", {}, `${figures(low, 3)} `, svg.node(), ` ${figures(high, 3)}`);
}

export function drawLegend(holder, { keys, caption, bar: scale }, { alone, kind, undecided, heaviest, drawn }) {
  const items = [element("span", {}, caption)];
  for (const [colour, label] of keys) items.push(element("span", {}, dot(colour, "none"), ` ${label}`));
  if (scale) items.push(scale.low === scale.high ? element("span", {}, figures(scale.low, 3)) : bar(scale));
  if (alone) items.push(element("span", {}, dot("none", "currentColor"), ` no ${kind}edge (${alone})`));
  if (heaviest) items.push(element("span", {}, stroke(3.7, null), ` weight ${figures(heaviest, 2)}`));
  if (undecided) items.push(element("span", {}, stroke(2, "4 4"), ` undecided (${undecided})`));
  if (drawn) items.push(element("strong", {}, drawn));
  holder.replaceChildren(...items);
}
