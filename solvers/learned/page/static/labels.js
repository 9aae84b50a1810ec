// Which names a picture has room for, and where: beside their vertices, never on one another.
const SIZE = 11, GAP = 3; // pixels

const pen = document.createElement("canvas").getContext("2d");

// labels: [{ i, at, radius, text, must, rank }], places in the scene; returns those that have room
// at this zoom, with x and y (of the text's left end and baseline) on the screen. Those that must
// be shown come first and find a place at any cost, then those of high rank.
export function placed(labels, { width, height }, transform) {
  pen.font = `${SIZE}px system-ui, sans-serif`;
  const taken = [], shown = [];
  const free = (box) => taken.every((other) => box[0] >= other[2] || box[2] <= other[0] || box[1] >= other[3] || box[3] <= other[1]);
  const inside = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height;
  const ordered = d3.sort(labels, (a, b) => b.must - a.must || b.rank - a.rank || a.i - b.i);
  for (const label of ordered) {
    const [x, y] = transform.apply(label.at), length = pen.measureText(label.text).width;
    const aside = label.radius + GAP, level = y + SIZE / 2 - 2;
    const places = [
      [x + aside, level], [x - aside - length, level],
      [x - length / 2, y - aside - 1], [x - length / 2, y + aside + SIZE - 2],
    ];
    const box = ([left, base]) => [left - 1, base - SIZE + 1, left + length + 1, base + 3];
    const place = places.find((one) => inside(box(one)) && free(box(one))) ?? (label.must ? places.find((one) => inside(box(one))) ?? places[0] : null);
    if (place === null) continue;
    taken.push(box(place));
    shown.push({ ...label, x: place[0], y: place[1] });
  }
  return shown;
}
