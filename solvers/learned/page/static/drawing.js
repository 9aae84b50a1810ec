// A scene as SVG, for graphs of some hundred vertices and for the file that is saved, or on a
// canvas, which takes a hundred thousand edges. Colours are written out: a saved picture has no
// style sheet.
import { placed } from "./labels.js";

export function drawSvg(svg, scene, colours, transform) {
  const { width, height } = scene.fit;
  svg.attr("viewBox", `0 0 ${width} ${height}`).attr("xmlns", "http://www.w3.org/2000/svg");
  const k = transform.k;
  const layer = (name) => svg.select("g.all").empty() ? null : svg.select(`g.${name}`);
  if (layer("all") === null) {
    const all = svg.append("g").attr("class", "all");
    for (const name of ["outlines", "edges", "vertices", "labels"]) all.append("g").attr("class", name);
  }
  svg.select("g.all").attr("transform", transform.toString());
  const line = d3.line();
  layer("outlines").selectAll("path").data(scene.fit.outlines).join("path")
    .attr("d", line).attr("fill", "none").attr("stroke", colours.outline).attr("vector-effect", "non-scaling-stroke");
  layer("edges").selectAll("line").data(scene.edges, ({ e }) => e).join("line").order()
    .attr("class", "edge").attr("data-edge", ({ e }) => e)
    .attr("x1", ({ from }) => from[0]).attr("y1", ({ from }) => from[1])
    .attr("x2", ({ to }) => to[0]).attr("y2", ({ to }) => to[1])
    .attr("stroke", ({ picked }) => (picked ? colours.mark : colours.edge))
    .attr("stroke-width", (edge) => edge.width + (edge.picked ? 1.5 : 0))
    .attr("stroke-opacity", ({ picked, opacity }) => (picked ? 1 : opacity))
    .attr("stroke-dasharray", ({ dashed }) => (dashed ? "4 4" : null))
    .attr("vector-effect", "non-scaling-stroke");
  layer("vertices").selectAll("circle").data(scene.vertices).join("circle")
    .attr("class", ({ alone }) => (alone ? "vertex alone" : "vertex")).attr("data-vertex", ({ i }) => i)
    .attr("cx", ({ at }) => at[0]).attr("cy", ({ at }) => at[1]).attr("r", ({ radius }) => radius / k)
    .attr("fill", ({ alone, fill }) => (alone ? colours.paper : fill))
    .attr("stroke", ({ alone, picked }) => (picked ? colours.mark : alone ? colours.ink : colours.paper))
    .attr("stroke-width", ({ alone, picked }) => (picked ? 3 : alone ? 1.5 : 1))
    .attr("vector-effect", "non-scaling-stroke");
  const labels = placed(scene.labels, scene.fit, transform);
  layer("labels").selectAll("text").data(labels, ({ i }) => i).join("text")
    .attr("x", ({ x }) => transform.invertX(x)).attr("y", ({ y }) => transform.invertY(y))
    .attr("font-size", 11 / k).attr("font-family", "system-ui, sans-serif").attr("fill", colours.ink)
    .attr("stroke", colours.paper).attr("stroke-width", 3 / k).attr("paint-order", "stroke")
    .text(({ text }) => text);
}

export function drawCanvas(canvas, scene, colours, transform, ratio, background) {
  const { width, height } = scene.fit;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  if (background) { pen.fillStyle = background; pen.fillRect(0, 0, canvas.width, canvas.height); }
  pen.scale(ratio, ratio);
  const at = ([x, y]) => transform.apply([x, y]);
  pen.strokeStyle = colours.outline;
  pen.beginPath();
  for (const path of scene.fit.outlines) path.forEach((p, n) => (n ? pen.lineTo(...at(p)) : pen.moveTo(...at(p))));
  pen.stroke();
  // One stroke for all edges that look alike: a hundred thousand strokes would take seconds.
  const seen = ([x0, y0], [x1, y1]) => Math.max(x0, x1) >= 0 && Math.min(x0, x1) <= width && Math.max(y0, y1) >= 0 && Math.min(y0, y1) <= height;
  const edgesHere = transform.k === 1 ? scene.edges : scene.edges.filter(({ from, to }) => seen(at(from), at(to)));
  const alike = d3.group(edgesHere, (edge) => (edge.picked ? 9 : Math.round(edge.width * 2)), ({ dashed }) => dashed);
  for (const [level, kinds] of d3.sort(alike, ([key]) => key)) {
    for (const [dashed, edges] of kinds) {
      pen.setLineDash(dashed ? [4, 4] : []);
      pen.strokeStyle = level === 9 ? colours.mark : colours.edge;
      pen.lineWidth = edges[0].width + (level === 9 ? 1.5 : 0);
      pen.globalAlpha = level === 9 ? 1 : edges[0].opacity;
      pen.beginPath();
      for (const { from, to } of edges) { pen.moveTo(...at(from)); pen.lineTo(...at(to)); }
      pen.stroke();
    }
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
  const looks = d3.groups(scene.vertices, ({ fill, alone, picked }) => (picked ? "picked" : alone ? "alone" : fill), ({ fill }) => fill);
  for (const [look, parts] of d3.sort(looks, ([name]) => name === "picked")) {
    for (const [fill, vertices] of parts) {
      pen.beginPath();
      for (const { at: place, radius } of vertices) {
        const [x, y] = at(place);
        if (!seen([x - radius, y - radius], [x + radius, y + radius])) continue;
        pen.moveTo(x + radius, y);
        pen.arc(x, y, radius, 0, 2 * Math.PI);
      }
      pen.fillStyle = look === "alone" ? colours.paper : fill;
      pen.fill();
      pen.lineWidth = look === "picked" ? 3 : look === "alone" ? 1.5 : 0.75;
      pen.strokeStyle = look === "picked" ? colours.mark : look === "alone" ? colours.ink : colours.paper;
      pen.stroke();
    }
  }
  pen.font = "11px system-ui, sans-serif";
  pen.lineWidth = 3;
  for (const { x, y, text } of placed(scene.labels, scene.fit, transform)) {
    pen.strokeStyle = colours.paper;
    pen.strokeText(text, x, y);
    pen.fillStyle = colours.ink;
    pen.fillText(text, x, y);
  }
}
