// The graph's boxes: one for each step, from top to bottom in the order in which they run. Within a segment operations are
// laid out by what they read; what the CPU runs between is one box until it is opened. Steps within branches and loops are
// in a frame of these.

const NODE_HEIGHT = 40;
const PORT_HEIGHT = 26;
const STEP_PADDING = 18;
const TITLE_HEIGHT = 34;
const STEP_GAP = 64;
const LANE_WIDTH = 22;
const FRAME_HEAD = 66;  // above the first step in a frame, with its title and room for flows
const FRAME_FOOT = 34;
const FRAME_SIDE = 26;
const OPEN_AT_ONCE = 8;  // operations of the CPU that are shown from the start
const OPEN_AT_MOST = 1000;
const BOXES_OF_A_FRAME = 3;  // how many boxes are as tall as a step's frame and the gap behind it
const OPEN_IN_ALL = 200;  // operations of a graph of which all are shown from the start

const hueOf = (segment) => (215 + segment * 137.5) % 360;
const fillOf = (segment) => (segment == null ? "var(--cpu)" : `hsl(${hueOf(segment)} var(--saturation) var(--lightness))`);
const strokeOf = (segment) => (segment == null ? "var(--cpu-line)" : `hsl(${hueOf(segment)} var(--saturation) var(--line-lightness))`);

function stepTitle(step) {
  if (step.segment == null) return "CPU";
  return `NNAPI, segment ${step.segment}${step.subgraph ? `, subgraph ${step.subgraph}` : ""}`;
}

// "5 operations": with those within branches and loops that are one box, as the numbers at the top of the page count them.
const operationsText = (step) => countText(step.nodes.reduce((sum, node) => sum + 1 + (node.inside || 0), 0), "operation");

// The kinds of a stretch of the CPU, the most frequent first.
function kindsOf(nodes) {
  const counts = new Map();
  for (const node of nodes) counts.set(node.op, (counts.get(node.op) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, size, weight = 400) {
  measure.font = `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;
  return measure.measureText(text).width;
}

function boxOf(graph, label, detail, kind, about) {
  const width = Math.max(84, textWidth(label, 12.5, 600), textWidth(detail, 11)) + 18;
  return { label, detail, kind, about, width, height: kind === "port" ? PORT_HEIGHT : NODE_HEIGHT };
}

// The boxes and edges of a step: its operations, and ports for what comes from outside and goes there.
function contentOf(graph, step, makers) {
  const boxes = [], edges = [];
  const makerOf = new Map();
  for (const [outer, inner] of step.inputs || []) {
    const value = graph.values[outer];
    boxes.push(boxOf(graph, clipped(value.name || "value", 26), "", "port", { value: outer, inner, from: makers.get(outer) }));
    makerOf.set(inner, boxes.length - 1);
  }
  const first = boxes.length;
  step.nodes.forEach((node) => {
    const output = graph.values[node.outputs[0]];
    boxes.push(boxOf(graph, clipped(node.op, 34), clipped(shortShape(output), 30), step.segment == null ? "cpu" : "nnapi", { node, step }));
    for (const value of node.outputs) makerOf.set(value, boxes.length - 1);
  });
  step.nodes.forEach((node, i) => {
    const sources = new Set(node.inputs.map((value) => makerOf.get(value)).filter((maker) => maker != null));
    for (const source of sources) if (source !== first + i) edges.push([source, first + i]);
  });
  for (const [outer, inner] of step.outputs || []) {
    if (!makerOf.has(inner)) continue;
    boxes.push(boxOf(graph, clipped(graph.values[outer].name || "result", 26), "", "port", { value: outer, inner }));
    edges.push([makerOf.get(inner), boxes.length - 1]);
  }
  return { boxes, edges };
}

// Long stretches of the CPU of large graphs are shut.
function openAtFirst(graph) {
  const count = graph.steps.reduce((sum, step) => sum + step.nodes.length, 0);
  return graph.steps.map((step) => count <= OPEN_IN_ALL || step.segment != null || step.nodes.length <= OPEN_AT_ONCE);
}

const canOpen = (step) => step.nodes.length <= OPEN_AT_MOST;

// A stretch of the CPU that is shut: what it has most of.
function shutBox(step) {
  const lines = kindsOf(step.nodes).slice(0, 5).map(([op, count]) => `${count} × ${op}`);
  const more = kindsOf(step.nodes).length - lines.length;
  if (more > 0) lines.push(`and ${countText(more, "other kind")}`);
  return { lines, width: 300, height: lines.length * 18 + 6 };
}

// Where all is: steps with their boxes, and the flows between them. `room` is the {width, height} in pixels in which all of
// it is shown; each step has a part of the height by the number of its boxes.
function placeGraph(graph, isOpen, room) {
  const makers = makersOf(graph);
  const contents = graph.steps.map((step, i) => (isOpen[i] ? contentOf(graph, step, makers) : { boxes: [], edges: [] }));
  const boxesIn = ({ boxes }) => boxes.length + BOXES_OF_A_FRAME;
  const all = contents.reduce((sum, content) => sum + boxesIn(content), 0);
  const placed = graph.steps.map((step, i) => {
    const open = isOpen[i], content = contents[i];
    const own = { width: room.width, height: room.height * boxesIn(content) / all };
    const inside = open && content.boxes.length ? layOut(content.boxes, content.edges, own) : { ...shutBox(step), paths: [] };
    const title = `${stepTitle(step)}: ${operationsText(step)}`;
    const width = Math.max(inside.width, textWidth(title, 15, 700) + 60) + 2 * STEP_PADDING;
    return { step, open, ...content, paths: inside.paths, lines: open ? [] : inside.lines, title, width,
      innerWidth: inside.width, height: inside.height + TITLE_HEIGHT + 2 * STEP_PADDING };
  });
  const terminals = terminalsOf(graph);
  const flows = flowsOf(graph, makers);
  const lanes = lanesOf(flows);
  return stack(placed, framesOf(graph), terminals, flows, lanes);
}

// The branches and loops around a block or step, the outermost first.
function blocksAround(graph, number) {
  const blocks = [];
  for (let at = number; at != null; at = graph.blocks[at].parent) blocks.unshift(graph.blocks[at]);
  return blocks;
}

// Returns the content of a frame, or of none: steps and frames in the order in which they run.
function framesOf(graph, parent) {
  const items = [];
  graph.steps.forEach((step, number) => {
    if (step.block !== parent) return;
    items.push({ number });
    (graph.blocks || []).forEach((block, i) => {
      if (block.step === number) items.push({ block, items: framesOf(graph, i) });
    });
  });
  return items;
}

// The numbers of the steps that make a value; -1 for inputs of forward. What a branch or loop gives is made within it.
function makersOf(graph) {
  const makers = new Map(graph.inputs.map((value) => [value, [-1]]));
  const sources = new Map();
  const link = (to, from) => sources.set(to, [...(sources.get(to) || []), from]);
  graph.steps.forEach((step, i) => {
    for (const node of step.nodes) for (const value of node.outputs) makers.set(value, [i]);
    for (const [outer] of step.outputs || []) makers.set(outer, [i]);
  });
  for (const block of graph.blocks || []) {
    for (const [outer, inner] of block.inputs) link(inner, outer);
    for (const [outer, inner] of block.outputs) link(outer, inner);
  }
  const find = (value, seen) => {
    if (!sources.has(value)) return makers.get(value) || [];
    if (seen.has(value)) return [];
    seen.add(value);
    return sources.get(value).flatMap((source) => find(source, seen));
  };
  for (const value of sources.keys()) makers.set(value, [...new Set(find(value, new Set()))]);
  return makers;
}

function terminalsOf(graph) {
  const box = (value, text) => boxOf(graph, clipped(text, 30), "", "port", { value, inner: value });
  return {
    inputs: graph.inputs.map((value) => box(value, `${graph.values[value].name || "input"} ${shapeText(graph.values[value].shape)}`)),
    outputs: graph.outputs.map((value, i) => box(value, `output ${i} ${shapeText(graph.values[value].shape)}`)),
  };
}

// Values that go from one step to another, by pairs of steps: -1 is forward's input, the number of steps its output.
function flowsOf(graph, makers) {
  const flows = new Map();
  const add = (value, to) => {
    for (const from of makers.get(value) || []) {
      if (from === to) continue;
      const key = `${from} ${to}`;
      if (!flows.has(key)) flows.set(key, { from, to, values: new Set() });
      flows.get(key).values.add(value);
    }
  };
  graph.steps.forEach((step, i) => {
    if (step.segment == null) {
      for (const node of step.nodes) node.inputs.forEach((value) => add(value, i));
    } else {
      for (const [outer] of step.inputs || []) add(outer, i);
    }
  });
  for (const value of graph.outputs) add(value, graph.steps.length);
  return [...flows.values()].filter((flow) => flow.to > flow.from);
}

// Flows that pass other steps run beside them, each in a lane of its own while others are there.
function lanesOf(flows) {
  const long = flows.filter((flow) => flow.to > flow.from + 1).sort((a, b) => a.to - a.from - (b.to - b.from));
  const lanes = [];
  for (const flow of long) {
    let lane = lanes.findIndex((taken) => taken.every((other) => other.to <= flow.from || other.from >= flow.to));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push(flow);
    flow.lane = lane;
  }
  return lanes.length;
}

function rowOf(boxes, y, middle) {
  const total = boxes.reduce((sum, box) => sum + box.width + NODE_GAP, -NODE_GAP);
  let x = middle - total / 2;
  for (const box of boxes) {
    box.x = x + box.width / 2;
    box.y = y;
    x += box.width + NODE_GAP;
  }
  return total;
}

// Inputs and outputs in rows of a width that can be read.
function rowsOfTerminals(boxes, y, middle, most) {
  let widest = 0;
  for (let rest = [...boxes]; rest.length > 0; y += PORT_HEIGHT + 10) {
    const row = [rest.shift()];
    for (let width = row[0].width; rest.length > 0 && width + rest[0].width + NODE_GAP <= most; row.push(rest.shift())) {
      width += rest[0].width + NODE_GAP;
    }
    widest = Math.max(widest, rowOf(row, y + PORT_HEIGHT / 2, middle));
  }
  return { widest, y };
}

// How wide a frame is with all in it; sets it for those inside too.
function measureFrame(frame, placed) {
  const titled = frame.block ? 2 * textWidth(frameTitle(frame), 13, 700) + 2 * FRAME_SIDE : 0;
  const inside = frame.items.map((item) => (item.items ? measureFrame(item, placed) : placed[item.number].width));
  frame.width = Math.max(360, titled, ...inside) + (frame.block ? 2 * FRAME_SIDE : 0);
  return frame.width;
}

const frameTitle = (frame) => blockText(frame.block) + (frame.items.length === 0 ? ": nothing to run" : "");

function stack(placed, items, terminals, flows, laneCount) {
  const widest = measureFrame({ items }, placed);
  const middle = widest / 2;
  const top = rowsOfTerminals(terminals.inputs, 0, middle, Math.max(900, widest));
  let y = top.y - 10;
  const spans = [{ top: 0, bottom: y, left: middle, right: middle }];
  const frames = [];
  const placeStep = (step) => {
    y += STEP_GAP;
    step.x = middle - step.width / 2;
    step.y = y;
    for (const box of step.boxes) {
      box.x += step.x + (step.width - step.innerWidth) / 2;
      box.y += y + TITLE_HEIGHT + STEP_PADDING;
    }
    step.paths = step.paths.map((path) => path.map(([px, py]) =>
      [px + step.x + (step.width - step.innerWidth) / 2, py + y + TITLE_HEIGHT + STEP_PADDING]));
    y += step.height;
    spans.push({ top: step.y, bottom: y, left: step.x, right: step.x + step.width });
  };
  const placeItems = (inside) => inside.forEach((item) => {
    if (item.items) placeFrame(item);
    else placeStep(placed[item.number]);
  });
  const placeFrame = (frame) => {
    y += STEP_GAP;
    frames.push(frame);  // those around before those inside
    Object.assign(frame, { title: frameTitle(frame), x: middle - frame.width / 2, y });
    y += frame.items.length > 0 ? FRAME_HEAD - STEP_GAP : TITLE_HEIGHT;
    placeItems(frame.items);
    y += frame.items.length > 0 ? FRAME_FOOT : 0;
    frame.height = y - frame.y;
  };
  placeItems(items);
  y += STEP_GAP;
  spans.push({ top: y, bottom: y, left: middle, right: middle });
  const bottom = rowsOfTerminals(terminals.outputs, y, middle, Math.max(900, widest));
  const reach = Math.max(widest, top.widest, bottom.widest) / 2;
  const left = middle - reach - laneCount * LANE_WIDTH - 20;
  return { steps: placed, frames, terminals, flows: flows.map((flow) => ({ ...flow, path: flowPath(flow, spans, middle, middle - reach) })),
    left: left - 20, top: -20, width: middle + reach + 20 - left + 20, height: bottom.y + 40 };
}

// From step to step straight down, past others by a lane at the left. Steps are spans[number + 1].
function flowPath(flow, spans, middle, edge) {
  const from = spans[flow.from + 1], to = spans[flow.to + 1];
  if (flow.lane == null) return [[middle, from.bottom], [middle, to.top - 2]];
  const x = edge - 20 - flow.lane * LANE_WIDTH;
  const shift = Math.min(60, 14 + flow.lane * 4);
  const out = from.bottom + Math.min(STEP_GAP / 2 - 6, shift / 2), into = to.top - Math.min(STEP_GAP / 2 - 6, shift / 2);
  const start = middle - 30 - (flow.lane % 10) * 6;
  return [[start, from.bottom], [start, out], [x, out], [x, into], [start, into], [start, to.top - 2]];
}
