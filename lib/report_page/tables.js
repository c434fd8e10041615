// Details of what is clicked, and the tables below the graph.

function reasonText(entry) {
  return entry.found + (entry.since ? ` at ${shortPlace(entry.since)}` : "") + (entry.needed ? `; needed: ${entry.needed}` : "") + (entry.hint ? `; hint: ${entry.hint}` : "");
}

function operandItem(graph, number, name) {
  const value = graph.values[number];
  const item = element("li");
  const label = value.operand != null ? `operand ${value.operand}` : "";
  const parts = [name, value.name ? `%${value.name}` : "", label].filter((part) => part);
  item.append(element("div", {}, element("strong", {}, parts.shift() || "value"), parts.length ? ` ${parts.join(", ")}` : ""),
    element("div", { class: "code" }, typeText(value)));
  if ("constant" in value) item.append(element("div", { class: "code" }, value.constant === "" ? "constant" : `= ${value.constant}`));
  return item;
}

function listOf(graph, title, numbers, names) {
  if (numbers.length === 0) return [];
  const items = numbers.map((number, i) => operandItem(graph, number, names ? names[i] : `${i}`));
  return [element("h4", {}, title), element("ul", { class: "operations" }, ...items)];
}

// "NNAPI, segment 3, in the loop at model.py:12".
function stepPlace(graph, step) {
  return [stepTitle(step), placeText(blocksAround(graph, step.block))].filter((part) => part).join(", ");
}

function nodeDetails(report, { node, step }) {
  const made = [element("h3", {}, node.op), element("p", { class: "faint" }, stepPlace(report.graph, step))];
  if (node.where) made.push(element("p", { class: "code" }, node.where));
  if (node.macs != null) made.push(element("p", {}, `${macsText(node.macs)} multiply-adds`));
  const reason = reasonOf(report, node);
  if (reason) made.push(element("p", {}, element("strong", {}, report.partition ? "stays on the CPU: " : "is refused: "), reasonText(reason)));
  if (node.inside) made.push(element("p", {}, `${countText(node.inside, "operation")} of the CPU inside`));
  return [...made, ...listOf(report.graph, "Outputs", node.outputs), ...listOf(report.graph, "Inputs", node.inputs, node.arguments)];
}

function valueDetails(graph, about) {
  const made = [element("h3", {}, `%${graph.values[about.value].name || "value"}`),
    ...listOf(graph, "For callers and the CPU", [about.value], [""])];
  if (about.inner !== about.value) made.push(...listOf(graph, "In the segment", [about.inner], [""]));
  if (about.from && about.from.length > 0) {
    const makers = about.from.map((from) => (from < 0 ? "an input of forward" : `made by ${stepPlace(graph, graph.steps[from])}`));
    made.push(element("p", {}, makers.join(" or ")));
  }
  return made;
}

function stepDetails(report, step) {
  const items = step.nodes.map((node) => {
    const reason = reasonOf(report, node);
    return element("li", {}, element("strong", {}, node.op), node.where ? element("div", { class: "code" }, shortPlace(node.where)) : "",
      reason ? element("div", { class: "faint" }, reasonText(reason)) : "");
  });
  const place = placeText(blocksAround(report.graph, step.block));
  return [element("h3", {}, stepTitle(step)), ...(place ? [element("p", { class: "faint" }, place)] : []),
    element("p", { class: "faint" }, operationsText(step)),
    element("ul", { class: "operations" }, ...items)];
}

// `columns`: [title, is a number]; a cell is a text or an element. A row has a level where something is wrong or slow.
function table(columns, rows) {
  const cell = (name, content, isNumber) => element(name, isNumber ? { class: "number" } : {}, content);
  const head = element("tr", {}, ...columns.map(([title, isNumber]) => {
    const made = cell("th", title, isNumber);
    made.setAttribute("scope", "col");
    return made;
  }));
  const body = rows.map((row) => element("tr", row.level ? { class: row.level } : {},
    ...row.map((content, i) => cell("td", content, columns[i][1]))));
  return element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

// Sets the level of a row.
const marked = (row, level) => Object.assign(row, { level });

// Rows with the worst first: the worst of them, and all of them behind a switch where they are more. `make` makes the rows,
// as a cell is in one place only.
function worstTable(columns, make) {
  const rows = make();
  if (rows.length <= WORST) return [table(columns, rows)];
  return [element("p", { class: "faint" }, `the worst ${WORST} of ${rows.length}`), table(columns, rows.slice(0, WORST)),
    element("details", { class: "all" }, element("summary", {}, `all ${rows.length}`), table(columns, make()))];
}

function section(id, title, ...content) {
  return element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, title), ...content);
}

// Returns a segment's multiply-adds for each byte that is handed over; few of them are slow.
const worthOf = ({ macs, input_bytes: into, output_bytes: out }) => (macs == null ? Infinity : macs / Math.max(1, (into || 0) + (out || 0)));

function segmentTable(report) {
  const parts = [...report.partition.segments, ...report.partition.cpu];
  const all = parts.reduce((sum, part) => sum + (part.macs || 0), 0);
  const share = parts.some((part) => part.macs == null) ? "share of what is counted" : "share";
  const rowOf = (segment, i) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = fillOf(i);
    swatch.style.borderColor = strokeOf(i);
    return [element("span", {}, swatch, `${i}`), `${segment.operation_count}`, macsText(segment.macs),
      all > 0 && segment.macs != null ? percentText(segment.macs, all) : "-", `${segment.inputs}`, bytesText(segment.input_bytes),
      `${segment.outputs}`, bytesText(segment.output_bytes), `${segment.feature_level}`, rowsText(segment), placeText(segment.inside || [])];
  };
  const { segments } = report.partition;
  const worst = segments.map((segment, i) => i);
  if (segments.length > WORST) worst.sort((a, b) => worthOf(segments[a]) - worthOf(segments[b]) || a - b);
  const makeRows = () => worst.map((i) => marked(rowOf(segments[i], i), segments[i].macs === 0 ? "warning" : ""));
  const rows = makeRows();
  const columns = [["segment"], ["operations", true], ["multiply-adds", true], [share, true], ["inputs", true], ["bytes in", true],
    ["outputs", true], ["bytes out", true], ["feature level", true], ["rows"], ["where"]];
  const shown = columns.map((column, i) => i).filter((i) => rows.some((row) => row[i] !== ""));
  const shownRows = () => makeRows().map((row) => marked(shown.map((i) => row[i]), row.level));
  return section("segments", "Segments", ...worstTable(shown.map((i) => columns[i]), shownRows));
}

// "4 a call, 20 expected".
const rowsText = ({ rows }) => (rows ? `${rows.per_call} a call, ${rows.estimate} expected (${rows.estimate_from})` : "");

// NNAPI's operations by kind.
function operationTable(report) {
  const macs = new Map();
  for (const step of report.graph ? report.graph.steps : []) {
    if (step.segment == null) continue;
    const { rows } = report.partition ? report.partition.segments[step.segment] : {};
    const calls = rows ? rows.estimate / rows.per_call : 1;
    for (const node of step.nodes) macs.set(node.op, (macs.get(node.op) || 0) + calls * (node.macs || 0));
  }
  const total = [...macs.values()].reduce((sum, each) => sum + each, 0);
  const makeRows = () => Object.entries(report.operations)
    .sort((a, b) => (macs.get(b[0]) || 0) - (macs.get(a[0]) || 0) || b[1] - a[1])
    .map(([op, count]) => [element("code", {}, op), `${count}`, macs.get(op) ? macsText(Math.round(macs.get(op))) : "-",
      macs.get(op) ? percentText(macs.get(op), total) : "-"]);
  const columns = [["operation"], ["count", true], ["multiply-adds", true], ["share", true]];
  const shown = total > 0 ? 4 : 2;  // a converted file's buffers tell no multiply-adds
  return section("operations", "NNAPI's operations by kind", ...worstTable(columns.slice(0, shown), () => makeRows().map((row) => row.slice(0, shown))));
}

// Entries with the same reason in one row; their operators and places with the number of each. `report` has the cost of each
// entry, if they have any: rows of much work first.
function reasonRows(entries, report = null) {
  const rows = new Map();
  for (const entry of entries) {
    const reason = reasonText({ ...entry, since: "" });
    if (!rows.has(reason)) rows.set(reason, { count: 0, macs: 0, cost: 0, operators: new Map(), places: new Map(), since: new Set() });
    const row = rows.get(reason);
    if (entry.since) row.since.add(shortPlace(entry.since));
    row.count++;
    row.macs = row.macs == null || entry.macs == null ? null : row.macs + entry.macs;
    const cost = report ? costOnCpu(report, entry) : 0;
    row.cost = row.cost == null || cost == null ? null : row.cost + cost;
    row.operators.set(entry.op, (row.operators.get(entry.op) || 0) + 1);
    if (entry.where) row.places.set(entry.where, (row.places.get(entry.where) || 0) + 1);
  }
  const times = ([name, count]) => (count > 1 ? `${name} ×${count}` : name);
  const weight = ({ cost }) => (cost == null ? 0.5 : cost);
  return [...rows].sort((a, b) => weight(b[1]) - weight(a[1]) || b[1].count - a[1].count).map(([reason, { count, macs, cost, operators, places, since }]) => {
    const items = [...places].map((place) => element("li", { class: "code", title: place[0] }, times([shortPlace(place[0]), place[1]])));
    const list = element("ul", {}, ...items.slice(0, 3));
    const rest = element("details", {}, element("summary", {}, `${items.length - 3} more`), element("ul", {}, ...items.slice(3)));
    const where = items.length > 3 ? element("div", {}, list, rest) : list;
    const lines = [...since].slice(0, 6).join(", ") + (since.size > 6 ? ` and ${since.size - 6} more` : "");
    const cells = [`${count}`, reason + (lines ? ` at ${lines}` : ""), element("code", {}, [...operators].map(times).join(", ")), where];
    return report ? marked([cells[0], macsText(macs), ...cells.slice(1)], levelOfCost(cost)) : marked(cells, "bad");
  });
}

function cpuTable(report) {
  const columns = [reasonColumns[0], ["multiply-adds", true], ...reasonColumns.slice(1)];
  return worstTable(columns, () => reasonRows(report.partition.cpu, report));
}

const reasonColumns = [["count", true], ["reason"], ["operators"], ["source lines"]];

function decibels(snr) {
  return snr == null ? "" : snr.toFixed(1);
}

function intervalText(interval) {
  return interval ? ` (${interval.map((share) => (100 * share).toFixed(1)).join(" to ")})` : "";
}

function distanceText(distance) {
  return `RMS ${errorText(distance.rms)}, SNR ${decibels(distance.snr_db)} dB, cosine ${distance.cosine.toFixed(5)}, `
    + `top-1 ${(100 * distance.top1_agreement).toFixed(1)} %${intervalText(distance.top1_interval)}`;
}

// One segment's operations, those that lose most first.
function lossTable(segment, number) {
  if (segment.float_because) return element("p", {}, `segment ${number} stays float: ${segment.float_because}`);
  const columns = [["operation"], ["result"], ["line"], ["alone dB", true], ["cumulated dB", true], ["weights dB", true],
    ["activations dB", true], ["saturated", true]];
  const rank = (loss) => (loss.snr_db_alone == null ? Infinity : loss.snr_db_alone);
  const worst = [...segment.losses].sort((a, b) => rank(a) - rank(b));
  const makeRows = () => worst.map((loss) => marked([loss.operation, loss.result,
    shortPlace(loss.where), decibels(loss.snr_db_alone), decibels(loss.snr_db_cumulated), decibels(loss.snr_db_weights),
    decibels(loss.snr_db_activations), `${(100 * loss.saturated).toFixed(2)} %`], levelBelow(loss.snr_db_alone, LEAST_SNR)));
  const title = `segment ${number}: ${segment.integer_operation_count} of ${countText(segment.operation_count, "operation")} in integers, ${distanceText(segment.distance)}`;
  return element("div", {}, element("h4", {}, title), ...segment.advice.map((advice) => element("p", {}, advice)), ...worstTable(columns, makeRows),
    element("div", { class: "histograms" }, ...worst.slice(0, WORST).map(spreadFigure).filter((figure) => figure)));
}

function calibrationSection(report) {
  const { calibration } = report;
  const whole = calibration.distance ? `distance from float: ${distanceText(calibration.distance)}`
    : "the results have other sizes than the float model's";
  const text = element("p", {}, `${countText(calibration.samples, "sample")}, ${calibration.held_back} held back; ${whole}`);
  const judged = [calibration.class_source, calibration.accuracy && accuracyText(calibration.accuracy)].filter((each) => each);
  return section("calibration", "Quantised by data", text, ...judged.map((each) => element("p", {}, each)), ...calibration.segments.map(lossTable));
}

function verificationSection(report) {
  const { verification } = report;
  const verdict = element("p", {}, element("span", { class: verification.passed ? "passed" : "failed" },
    verification.passed ? "passed" : "FAILED"), ` with ${countText(verification.samples, "sample")}; needed: ${verification.criterion}`);
  const rank = ({ snr_db: snr }) => (snr == null ? Infinity : snr);
  const numbers = verification.outputs.map((output, i) => i);
  if (numbers.length > WORST) numbers.sort((a, b) => rank(verification.outputs[a]) - rank(verification.outputs[b]) || a - b);
  const rowOf = (output, i) => marked([`${i}`, output.shape, output.dtype, errorText(output.max_error),
    errorText(output.relative_error), output.snr_db == null ? "exact" : output.snr_db.toFixed(1),
    percentText(output.top1_agreement, 1), output.quanta == null ? "-" : output.quanta.toFixed(1),
    output.is_constant ? "the same everywhere: this compares nothing"
      : output.ignores_input ? "hardly depends on the input: this compares little" : ""], levelOfOutput(output, verification));
  const makeRows = () => numbers.map((i) => rowOf(verification.outputs[i], i));
  const columns = [["output"], ["shape"], ["dtype"], ["max error", true], ["of range", true], ["SNR dB", true], ["top-1", true],
    ["quanta", true], ["note"]];
  const figures = verification.outputs.map(histogram).filter((figure) => figure);
  return section("verification", "Verification", verdict, ...worstTable(columns, makeRows), element("div", { class: "histograms" }, ...figures));
}

function countBars(svg, counts, width, height, highest) {
  const step = width / counts.length;
  counts.forEach((count, i) => {
    const rise = round1(Math.sqrt(count / highest) * height);
    svg.append(drawn("rect", { class: "bar-original", x: round1(i * step + 0.5), y: round1(height - rise), width: round1(step - 1), height: rise }));
  });
}

function rangeLabels(svg, values, width, height) {
  svg.append(drawn("text", { x: 0, y: height + 15, class: "small" }, errorText(values.lowest)),
    drawn("text", { x: width, y: height + 15, class: "small", "text-anchor": "end" }, errorText(values.highest)));
}

// An operation's results in the float model; lines mark the ends of the scale that lie among them.
function spreadFigure(loss) {
  const { values } = loss;
  if (values.counts.length === 0) return null;
  const width = 280, height = 90;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height + 20}`, width, height: height + 20, role: "img",
    "aria-label": `histogram of ${loss.result}: results of the float model` });
  countBars(svg, values.counts, width, height, Math.max(1, ...values.counts));
  for (const end of [values.scale_lowest, values.scale_highest]) {
    const x = round1((end - values.lowest) / (values.highest - values.lowest) * width);
    if (x > 0 && x < width) svg.append(drawn("path", { class: "bar-converted", d: `M${x} 0V${height}` }));
  }
  rangeLabels(svg, values, width, height);
  const caption = element("figcaption", {}, `${loss.operation} ${loss.result}: its scale holds ${errorText(values.scale_lowest)} to ${errorText(values.scale_highest)}`);
  return element("figure", {}, caption, svg);
}

// Original filled, result as an outline: where they agree, the outline runs along the filling. The height grows with the
// square root, so that rare values are seen.
function histogram(output, number) {
  const { histogram: counts } = output;
  if (!counts) return null;
  const width = 420, height = 130, bins = counts.original.length;
  const highest = Math.max(1, ...counts.original, ...counts.converted);
  const rise = (count) => round1(Math.sqrt(count / highest) * height);
  const step = width / bins;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height + 20}`, width, height: height + 20, role: "img",
    "aria-label": `histogram of output ${number}: original and result` });
  countBars(svg, counts.original, width, height, highest);
  const line = counts.converted.map((count, i) => `L${round1(i * step)} ${height - rise(count)}H${round1((i + 1) * step)}`).join("");
  svg.append(drawn("path", { class: "bar-converted", d: `M0 ${height}${line}V${height}` }));
  rangeLabels(svg, counts, width, height);
  const caption = element("figcaption", {}, `output ${number}: `, element("span", { class: "key-original" }, "■ original"), " ",
    element("span", { class: "key-converted" }, "□ result"), ", counts of values by square root");
  return element("figure", {}, caption, svg);
}
