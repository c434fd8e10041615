// Finds what is wrong or slow: for the top of the page, for rows of tables and for boxes of the graph. A finding is `bad`
// if a result is wrong or NNAPI does little of the work, and a `warning` if one of these may be so.

const LEAST_SNR = { bad: 10, warning: 20 };  // in dB
const LEAST_TOP1 = { bad: 0.8, warning: 0.95 };
const LEAST_KEPT = { bad: 0.95, warning: 0.98 };  // of 1, less the accuracy that is lost
const LEAST_SHARE = { bad: 0.5, warning: 0.9 };  // of the multiply-adds that NNAPI computes
const MOST_CALLS = 2;  // of NNAPI for one inference
const WORST = 10;  // rows and boxes that are shown before all

function levelBelow(value, least) {
  if (value == null) return "";
  return value < least.bad ? "bad" : value < least.warning ? "warning" : "";
}

const worseOf = (...levels) => (levels.includes("bad") ? "bad" : levels.includes("warning") ? "warning" : "");

// Of an output or a distance; an SNR of null is of equal values.
const levelOfDistance = ({ snr_db: snr, top1_agreement: top1 }) => worseOf(levelBelow(snr, LEAST_SNR), levelBelow(top1, LEAST_TOP1));

function levelOfOutput(output, verification) {
  const isOnly = verification.outputs.length === 1 && !verification.passed;
  return isOnly ? "bad" : worseOf(levelOfDistance(output), output.is_constant || output.ignores_input ? "warning" : "");
}

// The share of the multiply-adds that can be counted; null without any.
function shareOnNnapi({ segments, cpu, mac_share: share, counted_mac_share: counted }) {
  const all = [...segments, ...cpu].reduce((sum, part) => sum + (part.macs || 0), 0);
  return share != null ? share : all > 0 ? counted : null;
}

// Where nothing is counted, or little is, the number of convolutions and products tells more.
function levelOfShare(partition) {
  const { products } = partition;
  const byNumber = products.all > 0 ? products.nnapi / products.all : null;
  return worseOf(levelBelow(shareOnNnapi(partition), LEAST_SHARE), products.uncounted > 0 ? levelBelow(byNumber, LEAST_SHARE) : "");
}

function shareFinding(partition) {
  const share = shareOnNnapi(partition);
  const level = levelOfShare(partition);
  const { nnapi, all, uncounted } = partition.products;
  if (share === 0 || (share == null && all > 0 && nnapi === 0)) {
    return [["bad", "0 % of the multiply-adds run on NNAPI: the CPU computes the model"]];
  }
  if (level === "") return [];
  const rest = uncounted > 0 ? `, and ${countText(uncounted, "convolution or product")} that can't be counted` : "";
  return [[level, `the CPU computes ${percentText(1 - share, 1)} of the multiply-adds${uncounted > 0 ? " that can be counted" : ""}${rest}`]];
}

function verificationFindings({ passed, outputs, criterion, borders }) {
  const found = passed ? [] : [["bad", `verification FAILED; needed: ${criterion}`]];
  outputs.forEach((output, i) => {
    const level = levelOfDistance(output);
    if (level) found.push([passed ? level : "bad", `output ${i}: ${outputText(output)}`]);
    if (output.is_constant) found.push(["warning", `output ${i} is the same everywhere: verification compares nothing`]);
    else if (output.ignores_input) found.push(["warning", `output ${i} hardly depends on the input: verification compares little`]);
  });
  for (const border of borders || []) found.push([border.is_fault ? "bad" : "warning", `${border.sample}: ${border.problem}`]);
  return found;
}

const outputText = ({ snr_db: snr, top1_agreement: top1 }) => `SNR ${snr == null ? "infinite" : `${snr.toFixed(1)} dB`}, top-1 ${percentText(top1, 1)}`;

const levelOfLoss = (accuracy) => levelBelow(1 - (accuracy.float - accuracy.integers), LEAST_KEPT);

// Fewer samples say nothing of a loss.
const FEW_SAMPLES = 30;

const fewText = ({ samples, right, right_alone: alone }) => `accuracy: ${right.float} of ${samples} right in float, ${right.integers} in integers, `
  + `both alike on ${samples - alone.float - alone.integers}; ${FEW_SAMPLES} or more tell what is lost`;

const accuracyText = (accuracy) => (accuracy.samples < FEW_SAMPLES ? fewText(accuracy) : lossText(accuracy));

const lossText = ({ samples, float, integers, loss_interval: [lowest, highest] }) => `accuracy ${percentText(integers, 1)} in integers, `
  + `${percentText(float, 1)} in float, on ${countText(samples, "sample")}; ${(100 * (float - integers)).toFixed(1)} points lost `
  + `(${(100 * lowest).toFixed(1)} to ${(100 * highest).toFixed(1)})`;

function calibrationFindings({ distance, accuracy }) {
  const level = distance ? levelOfDistance(distance) : "";
  const found = level ? [[level, `far from the float model: ${outputText(distance)}`]] : [];
  if (accuracy && accuracy.samples >= FEW_SAMPLES && levelOfLoss(accuracy)) found.push([levelOfLoss(accuracy), accuracyText(accuracy)]);
  return found;
}

// Pairs of a level and a text, the bad ones first.
function findingsOf(report) {
  const found = [];
  if (report.doctor) found.push([report.doctor.level, `${report.doctor.device}: ${report.doctor.conclusion}`]);
  if (report.verification) found.push(...verificationFindings(report.verification));
  if (report.partition) {
    found.push(...shareFinding(report.partition));
    const unknown = report.partition.products.unknown_operators;
    if (unknown > 0) found.push(["warning", `the cost of ${countText(unknown, "operation")} of the CPU isn't known`]);
    const calls = report.partition.segments.length;
    if (calls > MOST_CALLS) found.push(["warning", `${calls} calls of NNAPI for one inference`]);
  }
  if (report.calibration) found.push(...calibrationFindings(report.calibration));
  found.push(...(report.warnings || []).map((text) => ["warning", text]));
  return [...found.filter(([level]) => level === "bad"), ...found.filter(([level]) => level !== "bad")];
}

// Why an operation stays on the CPU, or why it is refused.
function reasonOf(report, node) {
  if (node.reason == null) return null;
  if (report.partition) return report.partition.cpu[node.reason] || null;
  return (report.graph.reasons || [])[node.reason] || null;
}

// How much of the work of all parts an operation of the CPU is; null where its cost isn't known.
function costOnCpu(report, entry) {
  const parts = report.partition ? [...report.partition.segments, ...report.partition.cpu] : [];
  const all = parts.reduce((sum, part) => sum + (part.macs || 0), 0);
  return entry.macs == null ? null : all > 0 ? entry.macs / all : 0;
}

function levelOfCost(cost) {
  if (cost == null) return "warning";
  return cost > 1 - LEAST_SHARE.warning ? "bad" : cost > 0 ? "warning" : "";
}

// Gives for a box of an operation its level and the text that says why.
class Troubles {
  constructor(report) {
    this.report = report;
    this.losses = new Map();
    for (const segment of report.calibration ? report.calibration.segments : []) {
      for (const loss of segment.losses || []) this.losses.set(loss.result, loss);
    }
  }

  of(node) {
    if (node.finding) return { level: node.finding.level, rank: node.finding.rank, why: node.finding.why };
    const reason = reasonOf(this.report, node);
    if (reason && !this.report.partition) return { level: "bad", rank: 0, why: "can't go to NNAPI" };
    if (reason) {
      const cost = costOnCpu(this.report, reason);
      const level = levelOfCost(cost);
      return { level, rank: level === "bad" ? 1 - cost : level ? 2 : 4, why: `on the CPU, ${macsText(reason.macs)} multiply-adds` };
    }
    const value = this.report.graph.values[node.outputs[0]];
    const loss = value && value.name ? this.losses.get(value.name) : null;
    const level = loss && loss.operation === node.op ? levelBelow(loss.snr_db_alone, LEAST_SNR) : "";
    return { level, rank: level ? 2 + loss.snr_db_alone / 1000 : 5, why: level ? `loses most: SNR ${decibels(loss.snr_db_alone)} dB alone` : "" };
  }
}
