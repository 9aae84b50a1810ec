// A table of records that sorts by any of its columns.
import { element } from "./text.js";

// columns: [{ name, label, value (of a record), text (of a record), kind (a class) }]
export function createGrid(head, body, columns, { onSort, rowFor }) {
  const sort = { by: columns[0].name, up: true };
  let records = [];

  function fill() {
    const { value } = columns.find(({ name }) => name === sort.by);
    const empty = (v) => v === null || v === undefined;
    // What is missing comes last, whichever way the rest is sorted.
    const order = (a, b) => empty(value(a)) - empty(value(b)) || (sort.up ? d3.ascending : d3.descending)(value(a), value(b));
    body.replaceChildren(...[...records].sort(order).map((record) => {
      const cells = columns.map(({ text, kind }) => element("td", kind ? { class: kind } : {}, text(record)));
      return rowFor ? rowFor(record, cells) : element("tr", {}, ...cells);
    }));
    for (const cell of head.children) {
      cell.setAttribute("aria-sort", cell.dataset.name === sort.by ? (sort.up ? "ascending" : "descending") : "none");
    }
  }
  head.replaceChildren(...columns.map(({ name, label, kind }) => element("th", { scope: "col", "data-name": name, class: kind || "" }, element("button", {
    type: "button",
    onclick: () => {
      sort.up = sort.by === name ? !sort.up : true;
      sort.by = name;
      fill();
      onSort();
    },
  }, label))));
  return {
    draw(next) { records = next; fill(); },
    order: () => `${sort.by}${sort.up ? "" : "-down"}`,
    setOrder(text) {
      const [by, down] = text.split("-");
      if (columns.some(({ name }) => name === by)) Object.assign(sort, { by, up: down !== "down" });
    },
  };
}
