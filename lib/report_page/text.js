// Texts of numbers, types and shapes; elements. Whatever comes from a model gets into the page as text only.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function countText(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

// Rounded down: 99.97 % is no 100.0 %.
const percentText = (part, all) => `${(Math.floor(1000 * part / all) / 10).toFixed(1)} %`;

function scaledText(value, step, units) {
  let unit = 0;
  while (value >= step && unit + 1 < units.length) {
    value /= step;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)}${units[unit]}`;
}

const macsText = (macs) => (macs == null ? "unknown" : scaledText(macs, 1000, ["", " K", " M", " G", " T"]));
const bytesText = (bytes) => (bytes == null ? "unknown" : scaledText(bytes, 1024, [" B", " KB", " MB", " GB"]));

function errorText(value) {
  return value == null ? "infinite" : value === 0 ? "0" : value.toPrecision(3);
}

const shapeText = (shape) => (shape ? `[${shape.join(", ")}]` : "");
const shortShape = (value) => (value && value.shape ? value.shape.join("×") : "");

// "TENSOR_QUANT8_ASYMM [1, 8], scale 0.5, zero point 128".
function typeText(value) {
  let text = `${value.type || "type unknown"} ${shapeText(value.shape)}`.trim();
  if (value.scale) text += `, scale ${Number(value.scale.toPrecision(7))}, zero point ${value.zero_point}`;
  if (value.channel_scales) text += `, ${value.channel_scales} scales along axis ${value.channel_axis}`;
  if (value.nhwc) text += ", NHWC";
  return text;
}

// "loop at model.py:12".
const blockText = ({ kind, where }) => kind + (where ? `${kind === "else" ? " of" : " at"} ${shortPlace(where)}` : "");
const placeText = (blocks) => blocks.map((block) => `in the ${blockText(block)}`).join(", ");

// The file of a source line without its folders.
const shortPlace = (where) => where.replace(/^.*\//, "");

function clipped(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
