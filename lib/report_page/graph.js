// The graph on the page: drawing it, moving and zooming, search, and the details of what is clicked.

const MOST_SCALE = 1.25;  // at which a small graph is shown
const READABLE = 0.45;  // the scale below which texts are guessed rather than read
const MOST_SCREENS = 3;  // how tall the canvas is at most
const LEAST_CANVAS = 240;  // in pixels

class GraphView {
  constructor(report) {
    this.report = report;
    this.graph = report.graph;
    this.troubles = new Troubles(report);
    this.isOpen = report.converted === false ? this.graph.steps.map(canOpen) : openAtFirst(this.graph);
    this.canvas = document.getElementById("canvas");
    this.details = document.getElementById("details");
    this.found = document.getElementById("found");
    this.matches = [];
    this.match = -1;
    this.draw();
    this.showAll();
    this.listen();
    this.showOverview();
  }

  draw() {
    this.canvas.style.height = "";
    const { clientWidth: width, clientHeight: usual } = this.canvas;
    const isNarrow = window.matchMedia("(max-width: 900px)").matches;
    this.room = width;
    this.layout = placeGraph(this.graph, this.isOpen, { width, height: isNarrow ? MOST_SCREENS * window.innerHeight : usual });
    const height = this.heightOfCanvas(width, isNarrow ? LEAST_CANVAS : usual, isNarrow ? MOST_SCALE : READABLE);
    this.canvas.style.height = `${height}px`;
    this.groups = new Map();  // box -> group
    this.boxes = [];
    this.edges = [];
    this.world = drawn("g");
    for (const frame of this.layout.frames) this.drawFrame(frame);
    for (const flow of this.layout.flows) this.drawFlow(flow);
    this.layout.steps.forEach((step, i) => this.drawStep(step, i));
    for (const box of [...this.layout.terminals.inputs, ...this.layout.terminals.outputs]) this.drawBox(box, null, this.world);
    this.svg = drawn("svg", { "aria-hidden": "false" });
    const arrow = drawn("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
    arrow.append(drawn("path", { d: "M0 0L8 4L0 8z", fill: "var(--cpu-line)" }));
    const defs = drawn("defs");
    defs.append(arrow);
    this.svg.append(defs, this.world);
    this.canvas.replaceChildren(this.svg);
  }

  // As tall as all of the graph at this scale, within limits: the page scrolls along a canvas that is taller than the window.
  heightOfCanvas(width, least, scale) {
    const needed = this.layout.height * Math.min(scale, width / this.layout.width);
    return Math.round(Math.max(least, Math.min(MOST_SCREENS * window.innerHeight, needed)));
  }

  isTall() {
    return this.canvas.clientHeight > window.innerHeight;
  }

  drawFrame({ title, x, y, width, height }) {
    const group = drawn("g", { class: "frame" });
    group.append(drawn("rect", { x, y, width, height }), drawn("text", { class: "frame-title", x: x + STEP_PADDING, y: y + 22 }, title));
    this.world.append(group);
  }

  drawFlow(flow) {
    const straight = flow.path.map((point, i) => `${i ? "L" : "M"}${point.map(round1).join(" ")}`).join("");
    const path = drawn("path", { d: straight, class: "flow", "marker-end": "url(#arrow)" });
    const values = [...flow.values];
    const names = values.slice(0, 12).map((value) => `%${this.graph.values[value].name || value} ${shapeText(this.graph.values[value].shape)}`);
    path.append(drawn("title", {}, `${countText(values.length, "value")}: ${names.join(", ")}${values.length > 12 ? ", …" : ""}`));
    this.world.append(path);
    if (flow.lane != null || flow.from < 0 || flow.to >= this.graph.steps.length) return;
    const [x, y] = flow.path[0];
    this.world.append(drawn("text", { x: x + 10, y: (y + flow.path[1][1]) / 2 + 4, class: "small" }, countText(values.length, "value")));
  }

  drawStep(placed, number) {
    const group = drawn("g", { class: "step" });
    group.append(drawn("rect", { class: "back", x: placed.x, y: placed.y, width: placed.width, height: placed.height,
      fill: fillOf(placed.step.segment), stroke: strokeOf(placed.step.segment) }));
    const title = drawn("text", { class: "title", x: placed.x + STEP_PADDING, y: placed.y + 24 }, placed.title);
    const head = drawn("g", { class: "node head", tabindex: 0, role: "button", "aria-label": placed.title });
    head.append(title);
    this.onPick(head, () => this.showStep(number));
    group.append(head);
    if (placed.step.segment == null && canOpen(placed.step)) this.drawSwitch(group, placed, number);
    placed.lines.forEach((line, i) => group.append(drawn("text", { x: placed.x + STEP_PADDING + 6,
      y: placed.y + TITLE_HEIGHT + STEP_PADDING + 14 + i * 18, class: "small" }, clipped(line, 46))));
    if (!placed.open) this.onPick(group, () => this.showStep(number));
    placed.paths.forEach((points) => {
      const path = drawn("path", { class: "edge", d: curve(points) });
      this.edges.push(path);
      group.append(path);
    });
    const first = this.edges.length - placed.paths.length;
    for (const box of placed.boxes) {
      box.step = number;
      box.near = [];
      this.drawBox(box, placed.step.segment, group);
    }
    placed.edges.forEach(([from, to], i) => {
      placed.boxes[from].near.push(this.edges[first + i]);
      placed.boxes[to].near.push(this.edges[first + i]);
    });
    this.world.append(group);
  }

  drawSwitch(group, placed, number) {
    const text = placed.open ? "−" : "+";
    const name = placed.open ? "show as one box" : "show each operation";
    const button = drawn("g", { class: "node", tabindex: 0, role: "button", "aria-label": name });
    const x = placed.x + placed.width - 34;
    button.append(drawn("title", {}, name), drawn("rect", { x, y: placed.y + 8, width: 24, height: 22, fill: "var(--box)", stroke: "var(--cpu-line)" }),
      drawn("text", { x: x + 12, y: placed.y + 24, "text-anchor": "middle", class: "title" }, text));
    this.onPick(button, () => this.toggle(number));
    group.append(button);
  }

  drawBox(box, segment, parent) {
    const { level, why } = box.about.node ? this.troubles.of(box.about.node) : { level: "", why: "" };
    const group = drawn("g", { class: `node ${box.kind} ${level}`.trim(), tabindex: 0, role: "button",
      "aria-label": `${box.label} ${box.detail} ${level ? why : ""}`.trim() });
    if (level) group.append(drawn("title", {}, why));
    const top = box.y - box.height / 2;
    const fill = box.kind === "nnapi" ? { fill: "var(--box)", stroke: strokeOf(segment) } : {};
    group.append(drawn("rect", { x: box.x - box.width / 2, y: top, width: box.width, height: box.height, ...fill }));
    const middle = box.detail === "" ? box.y + 4.5 : box.y - 3;
    group.append(drawn("text", { x: box.x, y: middle, "text-anchor": "middle", class: box.kind === "port" ? "small" : "name" }, box.label));
    if (box.detail) group.append(drawn("text", { x: box.x, y: box.y + 13, "text-anchor": "middle", class: "small" }, box.detail));
    this.onPick(group, () => this.select(box));
    group.addEventListener("focus", () => this.keepInView(box));
    this.groups.set(box, group);
    this.boxes.push(box);
    parent.append(group);
  }

  onPick(group, act) {
    group.addEventListener("click", (event) => {
      event.stopPropagation();
      if (!this.dragged) act();
    });
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
  }

  toggle(number) {
    this.isOpen[number] = !this.isOpen[number];
    const before = this.layout.steps[number].y;
    this.draw();
    this.view.y += this.layout.steps[number].y - before;
    this.applyView();
    this.runSearch(false);
    this.showStep(number);
  }

  // The view: the point at the upper left corner, and pixels for each unit.
  fit() {
    const { left, top, width } = this.layout;
    const scale = Math.min(MOST_SCALE, this.canvas.clientWidth / width);
    const readable = Math.max(scale, 0.45);
    const start = this.layout.steps.length > 0 && this.layout.steps[0].boxes.length > 0 ? this.layout.steps[0].boxes[0].x : left;
    const middle = readable > scale ? start : left + width / 2;  // too wide to be read as a whole: where it begins
    this.view = { x: middle - this.canvas.clientWidth / readable / 2, y: top, scale: readable };
    this.applyView();
  }

  showAll() {
    const { left, top, width } = this.layout;
    const scale = this.scaleOfAll();
    this.view = { x: left + width / 2 - this.canvas.clientWidth / scale / 2, y: top, scale };
    this.applyView();
  }

  scaleOfAll() {
    return Math.min(MOST_SCALE, this.canvas.clientWidth / this.layout.width, this.canvas.clientHeight / this.layout.height);
  }

  // While all is shown, a finger that moves up or down scrolls the page.
  applyView() {
    const { x, y, scale } = this.view;
    this.canvas.classList.toggle("zoomed", scale > 1.01 * this.scaleOfAll());
    this.svg.setAttribute("viewBox", `${x} ${y} ${this.canvas.clientWidth / scale} ${this.canvas.clientHeight / scale}`);
  }

  zoom(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    const scale = Math.min(4, Math.max(0.02, this.view.scale * factor));
    this.view.x += px / this.view.scale - px / scale;
    this.view.y += py / this.view.scale - py / scale;
    this.view.scale = scale;
    this.applyView();
  }

  move(dx, dy) {
    this.view.x += dx / this.view.scale;
    this.view.y += dy / this.view.scale;
    this.applyView();
  }

  keepInView(box) {
    const { x, y, scale } = this.view;
    const width = this.canvas.clientWidth / scale, height = this.canvas.clientHeight / scale;
    const isInside = box.x > x + 20 && box.x < x + width - 20 && box.y > y + 30 && box.y < y + height - 30;
    if (!isInside) this.centre(box);
  }

  centre(box) {
    this.view.scale = Math.max(this.view.scale, 0.6);
    this.view.x = box.x - this.canvas.clientWidth / this.view.scale / 2;
    this.view.y = box.y - this.canvas.clientHeight / this.view.scale / 2;
    this.applyView();
  }

  listen() {
    this.canvas.addEventListener("wheel", (event) => {
      if (this.isTall() && !event.ctrlKey) return;  // the page scrolls
      event.preventDefault();
      const area = this.canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 500), event.clientX - area.left, event.clientY - area.top);
    }, { passive: false });
    this.canvas.addEventListener("click", () => {
      if (!this.dragged) this.deselect();
    });
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.tagName === "INPUT") return;
      event.preventDefault();
      this.search.focus();
    });
    this.search = document.getElementById("search");
    this.search.addEventListener("input", () => this.runSearch(true));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.nextMatch(event.shiftKey ? -1 : 1);
    });
    const onClick = (id, act) => document.getElementById(id).addEventListener("click", act);
    onClick("zoom-in", () => this.zoom(1.3));
    onClick("zoom-out", () => this.zoom(1 / 1.3));
    onClick("fit", () => this.fit());
    onClick("all", () => this.showAll());
    window.addEventListener("resize", () => this.onResize());
  }

  // Places all anew where another number of columns may fit.
  onResize() {
    if (Math.abs(this.canvas.clientWidth - this.room) < 100) {
      this.applyView();
      return;
    }
    this.draw();
    this.showAll();
    this.runSearch(false);
  }

  drag(down) {
    if (down.button !== 0) return;
    this.dragged = false;
    let last = down;
    const onMove = (event) => {
      if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > 4) this.dragged = true;
      if (!this.dragged) return;
      this.canvas.classList.add("moving");
      this.move(last.clientX - event.clientX, last.clientY - event.clientY);
      last = event;
    };
    const onUp = () => {
      this.canvas.classList.remove("moving");
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
      window.removeEventListener("pointercancel", onUp);
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
    window.addEventListener("pointercancel", onUp);
  }

  onKey(event) {
    const act = {
      ArrowLeft: () => this.move(-80, 0), ArrowRight: () => this.move(80, 0), ArrowUp: () => this.move(0, -80),
      ArrowDown: () => this.move(0, 80), PageUp: () => this.move(0, -this.canvas.clientHeight * 0.8),
      PageDown: () => this.move(0, this.canvas.clientHeight * 0.8), "+": () => this.zoom(1.3), "=": () => this.zoom(1.3),
      "-": () => this.zoom(1 / 1.3), 0: () => this.fit(), 1: () => this.showAll(), n: () => this.step(1), p: () => this.step(-1),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  step(by) {
    const last = this.boxes.indexOf(this.selected);
    const next = this.boxes[Math.min(this.boxes.length - 1, Math.max(0, last + by))];
    if (!next) return;
    this.select(next);
    this.keepInView(next);
  }

  select(box) {
    this.world.querySelectorAll(".selected, .near").forEach((each) => each.classList.remove("selected", "near"));
    this.selected = box;
    this.groups.get(box).classList.add("selected");
    for (const edge of box.near || []) edge.classList.add("near");
    this.showDetails(box.about.node ? nodeDetails(this.report, box.about) : valueDetails(this.graph, box.about));
    this.bringIntoWindow(this.groups.get(box));
  }

  deselect() {
    this.world.querySelectorAll(".selected, .near").forEach((each) => each.classList.remove("selected", "near"));
    this.selected = undefined;
    this.showOverview();
  }

  showStep(number) {
    this.showDetails(stepDetails(this.report, this.graph.steps[number]));
  }

  // On a narrow screen what is chosen stays at the lower edge of the window.
  showDetails(made) {
    this.details.classList.add("chosen");
    this.details.replaceChildren(...made);
    this.details.scrollTop = 0;
  }

  // Scrolls the page where the canvas is taller than the window, to above the details.
  bringIntoWindow(group) {
    if (!this.isTall()) return;
    const { top, bottom } = group.getBoundingClientRect();
    const end = 0.6 * window.innerHeight;
    if (top < 0 || bottom > end) window.scrollBy(0, top - end / 2);
  }

  showOverview() {
    const linkTo = (number) => {
      const step = this.graph.steps[number];
      const link = element("button", { type: "button" }, `${stepTitle(step)}: ${operationsText(step)}`);
      link.addEventListener("click", () => {
        this.centre({ x: this.layout.steps[number].x + this.layout.steps[number].width / 2, y: this.layout.steps[number].y + 60 });
        this.showStep(number);
      });
      return element("li", {}, link);
    };
    const listOfSteps = (inside) => inside.map((item) => (item.items
      ? element("li", {}, frameTitle(item), element("ul", { class: "operations inside" }, ...listOfSteps(item.items))) : linkTo(item.number)));
    const items = listOfSteps(framesOf(this.graph));
    this.details.classList.remove("chosen");
    this.details.replaceChildren(...this.worstOperations(), element("h3", {}, "Steps in the order in which they run"),
      element("ul", { class: "operations" }, ...items), element("p", { class: "faint" }, "Click an operation for its operands."));
  }

  // Links to the operations that are wrong or slow, the worst first.
  worstOperations() {
    const found = this.graph.steps.flatMap((step, number) => step.nodes.map((node) => ({ node, number, ...this.troubles.of(node) })))
      .filter(({ level }) => level !== "").sort((a, b) => a.rank - b.rank);
    if (found.length === 0) return [];
    const items = found.slice(0, WORST).map(({ node, number, level, why }) => {
      const link = element("button", { type: "button", class: level }, node.op);
      link.addEventListener("click", () => this.goTo(node, number));
      return element("li", {}, link, ` ${why}`, node.where ? element("div", { class: "code" }, shortPlace(node.where)) : "");
    });
    return [element("h3", {}, found.length > WORST ? `The worst ${WORST} of ${found.length} operations` : "Operations to look at first"),
      element("ul", { class: "operations worst" }, ...items)];
  }

  // Shows an operation, or its step where that is shut.
  goTo(node, number) {
    const box = this.boxes.find((each) => each.about.node === node);
    if (box) {
      this.centre(box);
      this.select(box);
      return;
    }
    const placed = this.layout.steps[number];
    this.centre({ x: placed.x + placed.width / 2, y: placed.y + placed.height / 2 });
    this.showDetails(nodeDetails(this.report, { node, step: this.graph.steps[number] }));
  }

  // Looks at names, types and source lines of all operations, also of those in shut boxes, which it opens on the way.
  runSearch(moves) {
    const text = this.search.value.trim().toLowerCase();
    for (const group of this.groups.values()) group.classList.remove("found");
    this.matches = [];
    this.match = -1;
    if (text === "") {
      this.found.textContent = "";
      return;
    }
    const shown = new Map(this.boxes.map((box) => [box.about.node, box]));
    this.graph.steps.forEach((step, number) => step.nodes.forEach((node) => {
      if (nodeText(this.graph, node).includes(text)) this.matches.push({ node, number, box: shown.get(node) });
    }));
    for (const { box } of this.matches) if (box) this.groups.get(box).classList.add("found");
    this.found.textContent = this.matches.length === 0 ? "nothing found" : `${this.matches.length} found`;
    if (moves && this.matches.length > 0) this.nextMatch(1);
  }

  nextMatch(by) {
    if (this.matches.length === 0) return;
    this.match = (this.match + by + this.matches.length) % this.matches.length;
    const { node, number } = this.matches[this.match];
    this.found.textContent = `${this.match + 1} of ${this.matches.length}`;
    this.goTo(node, number);
  }
}

function nodeText(graph, node) {
  const names = [...node.inputs, ...node.outputs].map((value) => graph.values[value].name || "");
  return `${node.op} ${node.where || ""} ${names.map((name) => `%${name}`).join(" ")}`.toLowerCase();
}
