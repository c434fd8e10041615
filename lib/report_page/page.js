// Puts the page together from the report.

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function inputText(input) {
  const quantisation = input.scale ? ` scale ${Number(input.scale.toPrecision(6))} zero point ${input.zero_point}` : "";
  return `${input.name}: ${input.dtype}${shapeText(input.shape)}${quantisation}`;
}

function facts(report) {
  const list = element("dl", { class: "facts" });
  if (report.output) list.append(fact("result", report.output));
  if (!report.converted) return list;
  list.append(fact("inputs", report.inputs.map(inputText).join("; ")), fact("NNAPI's operations", `${report.operation_count}`));
  if (report.partition) {
    list.append(fact("on NNAPI", shareText(report.partition)), fact("on the CPU", countText(report.partition.cpu.length, "operation")));
  }
  list.append(fact("quantisation", report.quant), fact("feature level", `${report.feature_level}`));
  if (report.weight_bytes != null) list.append(fact("weights", bytesText(report.weight_bytes)));
  if (report.verification) {
    list.append(fact("verification", element("span", { class: report.verification.passed ? "passed" : "failed" },
      report.verification.passed ? "passed" : "FAILED")));
  }
  return list;
}

// Where some operations can't be counted, by their number first.
function shareText({ segments, mac_share: share, products }) {
  const percent = `${(100 * share).toFixed(1)} % of the multiply-adds`;
  const parts = products.uncounted === 0 ? [percent]
    : [`${products.nnapi} of ${products.all} convolutions and products`, `${percent} that can be counted`,
      `not counted: ${products.uncounted} on the CPU`];
  return [countText(segments.length, "segment"), ...parts].join(", ");
}

function fill(report) {
  const name = shortPlace(report.model);
  document.title = `${name}: nnapi-convert report`;
  const summary = document.getElementById("summary");
  summary.append(element("h1", { title: report.model }, name), facts(report));
  if (report.error) summary.append(element("p", { class: "error" }, report.error));
  const tables = document.getElementById("tables");
  if (report.partition) tables.append(segmentTable(report));
  if (report.operations) tables.append(operationTable(report));
  if (report.partition) {
    tables.append(section("cpu", "What stays on the CPU, and why", table(reasonColumns, reasonRows(report.partition.cpu))));
  } else if (report.refusals.length > 0) {
    tables.append(section("refusals", "What NNAPI can't run, and why", table(reasonColumns, reasonRows(report.refusals))));
  }
  if (report.calibration) tables.append(calibrationSection(report));
  if (report.verification) tables.append(verificationSection(report));
  if (report.warnings.length > 0) {
    tables.append(section("warnings", "Warnings", element("ul", {}, ...report.warnings.map((text) => element("li", {}, text)))));
  }
  if (report.graph) {
    window.view = new GraphView(report);
  } else {
    document.getElementById("graph").remove();
  }
}

fill(JSON.parse(document.getElementById("report").textContent));
