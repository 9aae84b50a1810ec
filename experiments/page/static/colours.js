// What a vertex's colour says, and the legend that tells it.
import { element, figures } from "./text.js";

const MOST_NAMED = 8; // communities beyond the palette share colours, and have no legend

export function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: read("ink"), paper: read("paper"), edge: read("edge"), outline: read("outline"), mark: read("mark"), dark: matchMedia("(prefers-color-scheme: dark)").matches };
}

export function colouring(data, degree, mode, dark) {
  if (mode === "community") {
    const palette = data.palette.map((c) => (dark && c.toLowerCase() === "#000000" ? "#ffffff" : c));
    const fill = (i) => palette[data.community[i] % palette.length];
    const count = d3.max(data.community) + 1;
    const sizes = d3.rollup(data.community, (part) => part.length, (label) => label);
    const named = [...sizes.keys()].sort((a, b) => a - b).map((k) => [palette[k % palette.length], `${k + 1} (${sizes.get(k)})`]);
    const few = count <= MOST_NAMED;
    return { fill, keys: few ? named : [], caption: few ? "community" : `${count} communities share ${palette.length} colours` };
  }
  const column = data.columns.find(({ name }) => name === mode);
  const values = column ? column.values : degree;
  const [low, high] = d3.extent(values);
  const scale = d3.scaleSequential(d3.interpolateViridis).domain(low === high ? [low - 1, high + 1] : [low, high]);
  const steps = low === high ? [low] : [low, (low + high) / 2, high];
  return { fill: (i) => scale(values[i]), keys: steps.map((v) => [scale(v), figures(v, 3)]), caption: column ? mode : "degree" };
}

export function drawLegend(holder, { keys, caption }, { alone, undecided }) {
  const dot = (fill, stroke, dash) => {
    const svg = d3.create("svg").attr("width", 22).attr("height", 12).attr("aria-hidden", "true");
    if (dash) svg.append("line").attr("x1", 1).attr("x2", 21).attr("y1", 6).attr("y2", 6).attr("stroke", "currentColor").attr("stroke-width", 2).attr("stroke-dasharray", "4 4");
    else svg.append("circle").attr("cx", 11).attr("cy", 6).attr("r", 5).attr("fill", fill).attr("stroke", stroke);
    return svg.node();
  };
  const items = [element("span", {}, caption)];
  for (const [colour, label] of keys) items.push(element("span", {}, dot(colour, "none", false), ` ${label}`));
  if (alone) items.push(element("span", {}, dot("none", "currentColor", false), ` isolated (${alone})`));
  if (undecided) items.push(element("span", {}, dot("", "", true), ` undecided (${undecided})`));
  holder.replaceChildren(...items);
}
