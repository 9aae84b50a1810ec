// The picture: drawn, zoomed, hovered, clicked, and walked through with the keyboard.
import { onScheme, theme } from "./colours.js";
import { drawCanvas, drawSvg } from "./drawing.js";
import { fitted, hit, naturalHeight, neighbourTowards, scene } from "./scene.js";

const MOST_SVG = 500; // vertices; beyond, elements for every edge make a browser slow
const MOST_MOVING = 10000; // edges; more are left out while the picture moves
const REACH = 7; // pixels
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function createPicture(holder, tip, data, { pick, describe, moved }) {
  const onCanvas = data.names.length > MOST_SVG;
  const surface = holder.appendChild(onCanvas ? document.createElement("canvas") : document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  surface.setAttribute("aria-hidden", "true"); // the table says the same in words
  let fit = null, view = null, current = null, transform = d3.zoomIdentity, planned = 0, moving = false, asked = false;

  function paint() {
    planned = 0;
    if (current === null) return;
    const shown = moving && current.edges.length > MOST_MOVING ? { ...current, edges: [] } : current;
    if (onCanvas) drawCanvas(surface, shown, theme(), transform, devicePixelRatio || 1, null);
    else drawSvg(d3.select(surface), current, theme(), transform);
  }
  // Wheels and fingers fire more often than screens refresh.
  const plan = () => { if (!planned) planned = requestAnimationFrame(paint); };

  function measure() {
    const { width } = holder.getBoundingClientRect();
    if (width < 10) return;
    const height = Math.round(Math.max(220, Math.min(naturalHeight(data, width), 0.78 * innerHeight, 780)));
    holder.style.height = `${height}px`;
    fit = fitted(data, width, height);
    if (view) draw(view);
  }
  function draw(next) {
    view = next;
    if (fit === null) return;
    current = scene(data, fit, view);
    if (planned) cancelAnimationFrame(planned);
    paint();
  }
  const under = (event) => current && hit(data, current, transform.invert(d3.pointer(event, holder)), REACH / transform.k);

  const zoom = d3.zoom().scaleExtent([0.5, 40])
    .on("zoom", (event) => { transform = event.transform; moving = true; tip.hidden = true; plan(); })
    .on("end", ({ sourceEvent }) => { moving = false; plan(); if (sourceEvent || asked) moved(); });
  const selection = d3.select(holder).call(zoom).on("dblclick.zoom", null);
  const change = (...how) => { asked = true; selection.call(...how); asked = false; };
  const zoomBy = (factor) => change(zoom.scaleBy, factor);
  const reset = () => change(zoom.transform, d3.zoomIdentity);
  // Zoom and middle, in shares of the picture: a link may be opened on a screen of another size.
  const place = () => {
    if (transform.k === 1 && transform.x === 0 && transform.y === 0) return "";
    const [x, y] = transform.invert([fit.width / 2, fit.height / 2]);
    return [transform.k, x / fit.width, y / fit.height].map((v) => Number(v.toPrecision(4))).join("_");
  };
  const goTo = (text) => {
    const [k, x, y, ...more] = text.split("_").map(Number);
    const sound = more.length === 0 && k >= 0.5 && k <= 40 && Math.abs(x) < 50 && Math.abs(y) < 50 && fit !== null;
    const next = sound ? d3.zoomIdentity.translate(fit.width / 2, fit.height / 2).scale(k).translate(-x * fit.width, -y * fit.height) : d3.zoomIdentity;
    selection.call(zoom.transform, next);
  };

  holder.addEventListener("pointermove", (event) => {
    const found = under(event);
    tip.hidden = !found;
    holder.style.cursor = found ? "pointer" : "";
    if (!found) return;
    tip.textContent = describe(found);
    const [x, y] = d3.pointer(event, holder);
    tip.style.left = `${Math.min(x + 14, Math.max(fit.width - 170, 0))}px`;
    tip.style.top = `${y + 14}px`;
  });
  holder.addEventListener("pointerleave", () => { tip.hidden = true; });
  holder.addEventListener("click", (event) => pick(under(event) || null));
  holder.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS) {
      const from = view.focus;
      const next = from === null ? 0 : neighbourTowards(fit.points, from, ARROWS[event.key]);
      if (next !== null) pick({ vertex: next });
    } else if (event.key === "+" || event.key === "=") zoomBy(1.5);
    else if (event.key === "-") zoomBy(1 / 1.5);
    else if (event.key === "0") reset();
    else if (event.key === "Escape") pick(null);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(measure).observe(holder);
  onScheme(() => view && view.refresh());
  measure();

  return {
    draw, zoomBy, reset, place, goTo,
    svgText() {
      const svg = d3.create("svg:svg").attr("width", fit.width).attr("height", fit.height);
      drawSvg(svg, current, theme(), d3.zoomIdentity);
      svg.insert("rect", "*").attr("width", fit.width).attr("height", fit.height).attr("fill", theme().paper);
      return new XMLSerializer().serializeToString(svg.node());
    },
    pngBlob() {
      const canvas = document.createElement("canvas");
      drawCanvas(canvas, current, theme(), transform, 2, theme().paper);
      return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    },
  };
}
