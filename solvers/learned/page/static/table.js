// The edges as a table: sorted, searched, filtered, and linked with the picture both ways.
import { byId, element, figures } from "./text.js";

const PAGE = 200; // rows at a time: a hundred thousand would stop any browser

export function createTable(data, { pick }) {
  const body = byId("rows"), more = byId("more"), count = byId("count");
  let view = null, limit = PAGE;
  const sort = { by: "weight", up: false };
  const lower = data.names.map((name) => name.toLowerCase());
  // What the data say comes before what the solver proves.
  const columns = data.points[data.chosen].columns || [];
  byId("heads").lastElementChild.before(...columns.map(({ name }) => element("th", { scope: "col", class: "number" }, element("button", { type: "button", "data-sort": name }, name))));
  const numbers = (name) => (e) => { const found = (view.point.columns || []).find((column) => column.name === name); return found ? found.values[e] : NaN; };
  const orders = ["source", "target", "weight", ...columns.map(({ name }) => name)];

  function chosenEdges() {
    const { point, shown, touching } = view;
    const words = byId("search").value.trim().toLowerCase(), kind = byId("kind").value;
    const kept = Array.from(shown).filter((e) => {
      const i = point.heads[e], j = point.tails[e];
      if (words && !lower[i].includes(words) && !lower[j].includes(words)) return false;
      if (kind !== "all" && (kind === "undecided") !== (point.undecided[e] === 1)) return false;
      return touching === null || touching.has(i) || touching.has(j);
    });
    const key = { source: (e) => lower[point.heads[e]], target: (e) => lower[point.tails[e]], weight: (e) => point.weights[e] }[sort.by] || numbers(sort.by);
    const order = sort.up ? d3.ascending : d3.descending;
    return kept.sort((a, b) => view.isPickedEdge(b) - view.isPickedEdge(a) || order(key(a), key(b)) || a - b);
  }

  function row(e) {
    const { point } = view;
    const i = point.heads[e], j = point.tails[e], picked = view.isPickedEdge(e);
    const vertex = (k) => element("td", {}, element("button", { type: "button", onclick: (event) => { event.stopPropagation(); pick({ vertex: k }); } }, data.names[k]));
    const weight = element("td", { class: "number weight" }, element("button", { type: "button", "aria-pressed": picked, "aria-label": `edge ${data.names[i]} – ${data.names[j]}, weight ${figures(point.weights[e])}` }, figures(point.weights[e], 4, true)));
    const fate = element("td", {}, data.threshold > 0 ? (point.undecided[e] === 1 ? "undecided" : "provably") : "–");
    const said = columns.map(({ name }) => element("td", { class: "number" }, figures(numbers(name)(e), 2)));
    return element("tr", { "data-edge": e, class: picked ? "picked" : "", onclick: () => pick({ edge: e }) }, vertex(i), vertex(j), weight, ...said, fate);
  }

  function fill() {
    const kept = chosenEdges();
    body.replaceChildren(...kept.slice(0, limit).map(row));
    more.hidden = kept.length <= limit;
    byId("none").hidden = kept.length > 0;
    byId("none").firstChild.textContent = view.shown.length ? "No edge matches. " : "This graph has no edge. ";
    byId("unfilter").hidden = view.shown.length === 0;
    count.textContent = `${kept.length} of ${view.shown.length}` + (kept.length > limit ? `, ${limit} shown` : "");
    for (const button of document.querySelectorAll("[data-sort]")) {
      const active = button.dataset.sort === sort.by;
      button.closest("th").setAttribute("aria-sort", active ? (sort.up ? "ascending" : "descending") : "none");
    }
  }

  const again = () => { limit = PAGE; fill(); view.remember(); };
  byId("search").addEventListener("input", again);
  byId("kind").addEventListener("change", again);
  byId("unfilter").addEventListener("click", () => { byId("search").value = ""; byId("kind").value = "all"; pick(null); });
  more.addEventListener("click", () => { limit += PAGE; fill(); });
  for (const button of document.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      sort.up = sort.by === button.dataset.sort ? !sort.up : ["source", "target", "q-value"].includes(button.dataset.sort);
      sort.by = button.dataset.sort;
      again();
    });
  }
  return {
    draw(next) { view = next; limit = PAGE; fill(); },
    order: () => `${sort.by}${sort.up ? "-up" : ""}`,
    setOrder(text) {
      const by = text.replace(/-up$/, "");
      if (orders.includes(by)) Object.assign(sort, { by, up: text !== by });
    },
  };
}
