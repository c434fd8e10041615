// Puts the page together from the report.

function fact(name, value, level = "") {
  return element("div", {}, element("dt", {}, name), element("dd", level ? { class: level } : {}, value));
}

function inputText(input) {
  const quantisation = input.scale ? ` scale ${Number(input.scale.toPrecision(6))} zero point ${input.zero_point}` : "";
  return `${input.name}: ${input.dtype}${shapeText(input.shape)}${quantisation}`;
}

// Returns the facts about the program and the options that made the result.
function originFacts({ program, options }) {
  const made = [];
  if (program) made.push(fact("made by", `nnapi-convert ${program.version}${program.libtorch ? ` (LibTorch ${program.libtorch})` : ""}`));
  if (options && options.length > 0) made.push(fact("options", element("code", {}, options.join(" "))));
  return made;
}

const androidText = ({ min_api: api, version }) => (api == null ? "devices whose NNAPI was updated" : `${version} and later (API level ${api})`);

function facts(report) {
  const list = element("dl", { class: "facts" });
  if (report.output) list.append(fact("result", report.output));
  list.append(...originFacts(report));
  if (!report.converted) return list;
  list.append(fact("inputs", report.inputs.map(inputText).join("; ")), fact("NNAPI's operations", `${report.operation_count}`));
  if (report.partition) {
    list.append(fact("on NNAPI", shareText(report.partition), levelOfShare(report.partition)),
      fact("on the CPU", countText(report.partition.cpu.length, "operation")));
  } else if (isWhole(report)) {
    list.append(fact("on NNAPI", "100 %, in one call"));
  }
  list.append(fact("quantisation", report.quant), fact("feature level", `${report.feature_level}`));
  if (report.android) list.append(fact("Android", androidText(report.android)));
  if (report.weight_bytes != null) list.append(fact("weights", bytesText(report.weight_bytes)));
  if (report.verification) {
    list.append(fact("verification", element("span", { class: report.verification.passed ? "passed" : "failed" },
      report.verification.passed ? "passed" : "FAILED")));
    list.append(...distanceFacts(worstOutput(report.verification.outputs), ""));
  }
  if (report.calibration) list.append(...judgementFacts(report.calibration));
  if (report.calibration && report.calibration.distance) list.append(...distanceFacts(report.calibration.distance, " to the float model"));
  return list;
}

// Whether NNAPI runs the model in one call. The page of a file that was converted before has no partition, but steps.
const isWhole = ({ partition, graph }) => !partition && graph && graph.steps.every((step) => step.segment === 0);

// The lowest of all outputs.
function worstOutput(outputs) {
  const known = outputs.map((output) => output.snr_db).filter((snr) => snr != null);
  return { snr_db: known.length ? Math.min(...known) : null, top1_agreement: Math.min(1, ...outputs.map((output) => output.top1_agreement)) };
}

function distanceFacts({ snr_db: snr, top1_agreement: top1 }, to) {
  return [fact(`SNR${to}`, snr == null ? "exact" : `${snr.toFixed(1)} dB`, levelBelow(snr, LEAST_SNR)),
    fact(`top-1${to}`, percentText(top1, 1), levelBelow(top1, LEAST_TOP1))];
}

// Accuracy, and what other measures give.
function judgementFacts({ accuracy, score }) {
  const facts = [];
  if (accuracy) {
    facts.push(fact("accuracy", `${percentText(accuracy.integers, 1)} in integers, ${percentText(accuracy.float, 1)} in float`,
      levelOfLoss(accuracy)));
  }
  if (score) facts.push(fact(score.name, `${Number(score.integers.toPrecision(4))} in integers, ${Number(score.float.toPrecision(4))} in float`));
  return facts;
}

function errorParagraph(error) {
  const end = error.indexOf("\n");
  if (end < 0) return element("p", { class: "error" }, element("strong", {}, error));
  return element("p", { class: "error" }, element("strong", {}, error.slice(0, end)), error.slice(end));
}

// The worst of what was found; all of it where that is much.
function findingList(findings) {
  const list = (some) => element("ul", { class: "findings" }, ...some.map(([level, text]) => element("li", { class: level }, text)));
  if (findings.length === 0) return [];
  if (findings.length <= WORST) return [list(findings)];
  return [list(findings.slice(0, WORST)), element("details", {}, element("summary", {}, `${findings.length - WORST} more`), list(findings.slice(WORST)))];
}

// Where some operations can't be counted, by their number first.
function shareText(partition) {
  const { segments, mac_share: share, products } = partition;
  const counted = shareOnNnapi(partition);
  const percent = counted == null ? "" : `${percentText(counted, 1)} of the multiply-adds${share == null ? " that can be counted" : ""}`;
  const parts = products.uncounted === 0 ? [percent]
    : [`${products.nnapi} of ${products.all} convolutions and products`, percent, `not counted: ${products.uncounted} on the CPU`];
  if (products.unknown_operators > 0) parts.push(`not known: the cost of ${countText(products.unknown_operators, "operation")} of the CPU`);
  return [countText(segments.length, "segment"), ...parts].filter((part) => part).join(", ");
}

function fill(report) {
  const name = shortPlace(report.model);
  document.title = `${name}: nnapi-convert report`;
  const summary = document.getElementById("summary");
  summary.append(element("h1", { title: report.model }, name), facts(report));
  if (report.error) summary.append(errorParagraph(report.error));
  const findings = findingList(findingsOf(report));
  if (findings.length > 0) document.getElementById("findings").append(section("warnings", "What to look at first", ...findings));
  const tables = document.getElementById("tables");
  if (report.partition) tables.append(segmentTable(report));
  if (report.operations) tables.append(operationTable(report));
  if (report.partition) {
    tables.append(section("cpu", "What stays on the CPU, and why", ...cpuTable(report)));
  } else if (report.refusals.length > 0) {
    tables.append(section("refusals", "What NNAPI can't run, and why", ...worstTable(reasonColumns, () => reasonRows(report.refusals))));
  }
  if (report.calibration) tables.append(calibrationSection(report));
  if (report.verification) tables.append(verificationSection(report));
  if (report.graph) {
    window.view = new GraphView(report);
  } else {
    document.getElementById("graph").remove();
  }
}

fill(JSON.parse(document.getElementById("report").textContent));
