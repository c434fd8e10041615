// Where the boxes of a graph go. Nodes lie in layers from top to bottom: each below all that it reads. A long edge passes
// the layers between by points of its own, which take room like nodes, so that edges cross no boxes. Rows are ordered by
// the medians of their neighbours, then moved towards them without overlaps.

const LAYER_GAP = 34;
const NODE_GAP = 22;
const POINT_WIDTH = 10;
const LAYER_WIDTH = 16;
const COLUMN_GAP = 56;
const COLUMN_MARGIN = 28;  // above and below columns, where edges go from one to the next
const LEAST_COLUMN = 300;  // the height that is worth a column
const COLUMN_SIDES = 120, COLUMN_ENDS = 220;  // beside and above and below columns: their step's frame, inputs and outputs

// `nodes`: [{width, height}], `edges`: [[from, to]] with numbers of nodes; no circles. Sets x, y (the centre) of each node,
// gives {width, height, paths}: for each edge the points it runs through. What is much taller than wide becomes columns
// beside each other, so many that all of it is shown largest in a `room` of {width, height} in pixels.
function layOut(nodes, edges, room) {
  const layers = layersOf(nodes.length, edges);
  const cells = nodes.map((node, i) => ({ node, width: node.width, height: node.height, layer: layers[i], up: [], down: [] }));
  const chains = edges.map(([from, to]) => chainOf(cells, from, to));
  const rows = rowsOf(cells);
  orderRows(rows);
  const { width, height } = fold(rows, placeRows(rows), placeLayers(rows), room);
  for (const cell of cells) {
    if (!cell.node) continue;
    cell.node.x = cell.x;
    cell.node.y = cell.y;
  }
  return { width, height, paths: chains.map((chain) => pathOf(chain.map((i) => cells[i]))) };
}

// Longest paths from the top, but no more than so many nodes in a layer: the rest goes further down. Then what nothing
// holds above comes down to its first reader.
function layersOf(count, edges) {
  const readers = Array.from({ length: count }, () => []);
  const open = new Array(count).fill(0);
  for (const [from, to] of edges) {
    readers[from].push(to);
    open[to]++;
  }
  const layers = new Array(count).fill(0);
  const sources = open.map((number, i) => (number === 0 ? i : -1)).filter((i) => i >= 0);
  const ready = [...sources];
  const taken = [];
  for (let next = 0; next < ready.length; next++) {
    let layer = layers[ready[next]];
    while ((taken[layer] || 0) >= LAYER_WIDTH) layer++;
    taken[layer] = (taken[layer] || 0) + 1;
    layers[ready[next]] = layer;
    for (const to of readers[ready[next]]) {
      layers[to] = Math.max(layers[to], layers[ready[next]] + 1);
      if (--open[to] === 0) ready.push(to);
    }
  }
  for (const i of sources) {
    if (readers[i].length === 0) continue;
    layers[i] = Math.min(...readers[i].map((to) => layers[to])) - 1;
  }
  return layers;
}

function chainOf(cells, from, to) {
  const chain = [from];
  for (let layer = cells[from].layer + 1; layer < cells[to].layer; layer++) {
    cells.push({ width: POINT_WIDTH, height: 0, layer, up: [], down: [] });
    chain.push(cells.length - 1);
  }
  chain.push(to);
  for (let i = 0; i + 1 < chain.length; i++) {
    cells[chain[i]].down.push(cells[chain[i + 1]]);
    cells[chain[i + 1]].up.push(cells[chain[i]]);
  }
  return chain;
}

function rowsOf(cells) {
  const rows = [];
  for (const cell of cells) (rows[cell.layer] ||= []).push(cell);
  for (let i = 0; i < rows.length; i++) rows[i] ||= [];
  rows.forEach((row) => row.forEach((cell, i) => (cell.rank = i)));
  return rows;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function orderRows(rows) {
  for (let round = 0; round < 8; round++) {
    const downwards = round % 2 === 0;
    const side = downwards ? "up" : "down";
    for (const row of downwards ? rows : [...rows].reverse()) {
      for (const cell of row) cell.wish = cell[side].length ? median(cell[side].map((other) => other.rank)) : cell.rank;
      row.sort((a, b) => a.wish - b.wish || a.rank - b.rank);
      row.forEach((cell, i) => (cell.rank = i));
    }
  }
}

const gap = (left, right) => (left.width + right.width) / 2 + NODE_GAP;

// Moves a row's cells to their wishes as far as their order and widths allow: neighbours that want to be in one place form
// a block at the mean of what they want.
function settle(row) {
  const blocks = [];
  for (const cell of row) {
    let block = { cells: [cell], offsets: [0], sum: cell.wish * cell.weight, weight: cell.weight };
    for (let last; (last = blocks.at(-1)) && overlap(last, block); ) {
      blocks.pop();
      const shift = last.offsets.at(-1) + gap(last.cells.at(-1), block.cells[0]);
      last.sum += block.sum - shift * block.weight;
      last.weight += block.weight;
      last.cells.push(...block.cells);
      last.offsets.push(...block.offsets.map((offset) => offset + shift));
      block = last;
    }
    blocks.push(block);
  }
  for (const block of blocks) {
    block.cells.forEach((cell, i) => (cell.x = block.sum / block.weight + block.offsets[i]));
  }
}

function overlap(left, right) {
  const end = left.sum / left.weight + left.offsets.at(-1);
  return end + gap(left.cells.at(-1), right.cells[0]) > right.sum / right.weight;
}

function placeRows(rows) {
  for (const row of rows) {
    let x = 0;
    for (const cell of row) {
      cell.x = x + cell.width / 2;
      x += cell.width + NODE_GAP;
    }
    for (const cell of row) cell.x -= (x - NODE_GAP) / 2;
  }
  for (let round = 0; round < 12; round++) {
    const side = round % 2 === 0 ? "up" : "down";
    for (const row of round % 2 === 0 ? rows : [...rows].reverse()) {
      for (const cell of row) {
        cell.wish = cell[side].length ? median(cell[side].map((other) => other.x)) : cell.x;
        cell.weight = !cell.node && cell[side].some((other) => !other.node) ? 8 : 1;  // long edges run straight
      }
      settle(row);
    }
  }
  const left = leftOf(rows), right = rightOf(rows);
  for (const cell of rows.flat()) cell.x -= left;
  return right - left;
}

// The layers get room for the edges that run aslant between them.
function placeLayers(rows) {
  let y = 0;
  rows.forEach((row, i) => {
    const height = Math.max(0, ...row.map((cell) => cell.height));
    for (const cell of row) cell.y = y + height / 2;
    for (const cell of row) cell.rowHeight = height;
    const reach = Math.max(0, ...row.flatMap((cell) => cell.down.map((other) => Math.abs(other.x - cell.x))));
    y += height + (i + 1 < rows.length ? LAYER_GAP + Math.min(60, reach / 12) : 0);
  });
  return y;
}

// The rows of a chain, cut where one edge alone goes on, into the number of columns in which they are shown largest. The
// edge goes up again between two columns.
function fold(rows, width, height, room) {
  const scaleOf = (wide, tall) => Math.min(room.width / (wide + COLUMN_SIDES), room.height / (tall + COLUMN_ENDS));
  let columns = [rows], bottom = height, best = scaleOf(width, height);
  for (let number = 2; number <= height / LEAST_COLUMN; number++) {
    const made = columnsOf(rows, height / number);
    const total = made.reduce((sum, column) => sum + rightOf(column) - leftOf(column) + COLUMN_GAP, -COLUMN_GAP);
    const tallest = Math.max(...made.map((column) => bottomOf(column.at(-1)) - topOf(column[0]))) + 2 * COLUMN_MARGIN;
    if (scaleOf(total, tallest) <= best) continue;
    columns = made;
    bottom = tallest;
    best = scaleOf(total, tallest);
  }
  if (columns.length === 1) return { width, height };
  let x = 0;
  columns.forEach((column, number) => {
    const left = leftOf(column), end = x + rightOf(column) - left;
    const shift = COLUMN_MARGIN - topOf(column[0]);
    for (const cell of column.flat()) {
      Object.assign(cell, { x: cell.x + x - left, y: cell.y + shift, column: number, columnEnd: end, bottom });
    }
    x = end + COLUMN_GAP;
  });
  return { width: x - COLUMN_GAP, height: bottom };
}

const leftOf = (column) => Math.min(...column.flat().map((cell) => cell.x - cell.width / 2));
const rightOf = (column) => Math.max(...column.flat().map((cell) => cell.x + cell.width / 2));
const topOf = (row) => row[0].y - row[0].rowHeight / 2;
const bottomOf = (row) => row[0].y + row[0].rowHeight / 2;

// Each column ends at the cut that is next to the height wanted.
function columnsOf(rows, wanted) {
  const cuts = rows.map((row, i) => i + 1).filter((i) => i < rows.length && rows[i].length > 0 && rows[i - 1].length > 0
    && rows[i - 1].reduce((sum, cell) => sum + cell.down.length, 0) === 1);
  const columns = [];
  let start = 0;
  cuts.forEach((cut, i) => {
    const away = (end) => Math.abs(bottomOf(rows[end - 1]) - topOf(rows[start]) - wanted);
    const next = i + 1 < cuts.length ? cuts[i + 1] : rows.length;
    if (away(next) < away(cut)) return;
    columns.push(rows.slice(start, cut));
    start = cut;
  });
  columns.push(rows.slice(start));
  return columns;
}

// The corners of an edge that goes from one column to the next.
function wayBetween(from, to) {
  if (from.column === to.column) return [];
  const down = from.bottom - COLUMN_MARGIN / 2, up = COLUMN_MARGIN / 2, x = from.columnEnd + COLUMN_GAP / 2;
  return [[from.x, down], [x, down], [x, up], [to.x, up]];
}

function pathOf(cells) {
  const points = [[cells[0].x, cells[0].y + cells[0].height / 2]];
  if (cells[0].rowHeight > cells[0].height) points.push([cells[0].x, cells[0].y + cells[0].rowHeight / 2]);
  cells.slice(1).forEach((cell, i) => {
    points.push(...wayBetween(cells[i], cell));
    if (i + 2 < cells.length) points.push([cell.x, cell.y - cell.rowHeight / 2], [cell.x, cell.y + cell.rowHeight / 2]);
  });
  const last = cells.at(-1);
  if (last.rowHeight > last.height) points.push([last.x, last.y - last.rowHeight / 2]);
  points.push([last.x, last.y - last.height / 2]);
  return points;
}

// Straight where the edge runs down, a curve where it changes its place.
function curve(points) {
  let text = `M${points[0].map(round1).join(" ")}`;
  for (let i = 1; i < points.length; i++) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]];
    const middle = round1((y0 + y1) / 2);
    text += Math.abs(x0 - x1) < 0.5 ? `L${round1(x1)} ${round1(y1)}`
      : `C${round1(x0)} ${middle} ${round1(x1)} ${middle} ${round1(x1)} ${round1(y1)}`;
  }
  return text;
}

const round1 = (number) => Math.round(number * 10) / 10;
