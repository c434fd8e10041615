#!/usr/bin/env node
// Runs LiteRT's files (.tflite) under Node, by Google's own WebAssembly.
//
//   node run.js [--interpreter] JOBS.jsonl      (-: standard input, a job at a time)
//
// A job is a line of JSON:
//   {"model": FILE, "signature": KEY, "samples": [{"in": [FILE, ...], "out": [FILE, ...]}, ...], "interpreter": BOOL}
// The files of a sample hold raw little-endian numbers, in the order of the signature; those of `out` are written. For
// each job one line of JSON is printed: types, shapes and times, or the error. The exit code is 1 if a job failed.
//
// The judge is LiteRT (@litertjs/core, on the CPU with XNNPACK), or with --interpreter, or for a job that asks for it, the
// older Interpreter (@tensorflow/tfjs-tflite, about TensorFlow 2.13), which knows subgraph 0 only, and results whose
// sizes are not in the file. Both packages are looked for in
// $NNAPI_CONVERT_LITERT/node_modules, else beside this file.
'use strict';
const fs = require('fs');
const path = require('path');
const Module = require('module');

const home = process.env.NNAPI_CONVERT_LITERT || __dirname;
const messages = [];

// The packages' scripts are CommonJS, which require() refuses in a package of type "module".
function loadScript(file) {
  const loaded = new Module(file, null);
  loaded.filename = file;
  loaded.paths = Module._nodeModulePaths(path.dirname(file));
  loaded._compile(fs.readFileSync(file, 'utf8'), file);
  return loaded.exports;
}

function folderOf(name) {
  const folder = path.join(home, 'node_modules', name, 'wasm');
  if (fs.existsSync(folder)) return folder;
  throw new Error(`${name} is not installed in ${home}: run npm ci there`);
}

const keep = {print: line => messages.push(line), printErr: line => messages.push(line)};

// The numbers of a C++ vector, which is freed.
function taken(vector) {
  const values = [];
  for (let i = 0; i < vector.size(); ++i) values.push(vector.get(i));
  vector.delete();
  return values;
}

class LiteRt {
  static async open() {
    // The file of this name does without relaxed SIMD, which Node 20 lacks.
    const script = path.join(folderOf('@litertjs/core'), 'litert_wasm_compat_internal.js');
    const judge = new LiteRt();
    judge.wasm = await loadScript(script)(keep);
    judge.wasm.setupLogging();
    judge.environment = judge.wasm.LiteRtEnvironment.create(null);
    return judge;
  }

  typeText(type) {
    const names = ['none', 'float32', 'int32', 'uint8', 'int64', 'string', 'bool', 'int16', 'complex64', 'int8', 'float16'];
    return names[type.elementType().value] || 'other';
  }

  describe(name, type) {
    const layout = type.layout();
    const found = {name, type: this.typeText(type), shape: taken(layout.dimensions())};
    layout.delete();
    try {
      found.bytes = type.bytes();
    } catch (error) {
      found.is_open = true;  // its size is known only when the inputs are
    }
    type.delete();
    return found;
  }

  async run(job, report) {
    const {wasm, environment} = this;
    const bytes = fs.readFileSync(job.model);
    const memory = wasm._malloc(bytes.length);
    wasm.HEAPU8.set(bytes, memory);
    let model, compiled;
    try {
      const begin = performance.now();
      model = wasm.loadModel(environment, memory, bytes.length);
      compiled = await wasm.compileModel(environment, model, {
        environment: {liteRtEnvironment: environment, webGpuDevice: null, options: {webGpuDevice: null}},
        accelerator: 'wasm', cpuOptions: {numThreads: 1}, gpuOptions: {}, webNNOptions: {},
      });
      report.load_ms = performance.now() - begin;
      report.all_xnnpack = compiled.isFullyAccelerated();
      const keys = [];
      for (let i = 0; i < model.getNumSignatures(); ++i) keys.push(model.getSignature(i).key());
      report.signatures = keys;
      const number = job.signature ? keys.indexOf(job.signature) : 0;
      if (number < 0) throw new Error(`no signature ${job.signature}; there are: ${keys.join(', ')}`);
      const signature = model.getSignature(number);
      report.inputs = taken(signature.inputNames()).map((name, i) => this.describe(name, model.getInputTensorType(number, i)));
      report.outputs =
          taken(signature.outputNames()).map((name, i) => this.describe(name, model.getOutputTensorType(number, i)));
      for (const sample of job.samples || []) await this.runSample(model, compiled, number, sample, report);
    } finally {
      if (compiled) compiled.delete();
      if (model) model.delete();
      wasm._free(memory);
    }
  }

  inputBuffer(model, number, i, file) {
    const {wasm} = this;
    const type = model.getInputTensorType(number, i);
    const bytes = fs.readFileSync(file);
    const needed = type.bytes();
    if (bytes.length !== needed) throw new Error(`input ${i}: ${bytes.length} bytes found, ${needed} needed`);
    const buffer = wasm.LiteRtTensorBuffer.createManaged(
        this.environment, wasm.LiteRtTensorBufferType.HOST_MEMORY, type, bytes.length);
    type.delete();
    wasm.HEAPU8.set(bytes, buffer.lock(wasm.LiteRtTensorBufferLockMode.WRITE));
    buffer.unlock();
    return buffer;
  }

  async runSample(model, compiled, number, sample, report) {
    const {wasm} = this;
    if (sample.in.length !== report.inputs.length) {
      throw new Error(`${sample.in.length} inputs found, ${report.inputs.length} needed`);
    }
    const inputs = sample.in.map((file, i) => this.inputBuffer(model, number, i, file));
    const begin = performance.now();
    const outputs = await compiled.run(number, inputs);
    report.run_ms = performance.now() - begin;
    outputs.forEach((output, i) => {
      const size = output.packedSize();
      const begin = output.lock(wasm.LiteRtTensorBufferLockMode.READ);
      fs.writeFileSync(sample.out[i], wasm.HEAPU8.subarray(begin, begin + size));
      output.unlock();
      const shape = this.describe('', output.tensorType()).shape;
      report.outputs[i].shape = shape;
      output.delete();
    });
    inputs.forEach(input => input.delete());
  }
}

class Interpreter {
  static async open() {
    const folder = folderOf('@tensorflow/tfjs-tflite');
    const judge = new Interpreter();
    judge.wasm = await loadScript(path.join(folder, 'tflite_web_api_cc_simd.js'))(
        {wasmBinary: fs.readFileSync(path.join(folder, 'tflite_web_api_cc_simd.wasm')), ...keep});
    return judge;
  }

  describe(tensors) {
    const found = [];
    for (let i = 0; i < tensors.size(); ++i) {
      const each = tensors.get(i);
      const shape = each.shape === '' ? [] : each.shape.split(',').map(Number);
      found.push({name: each.name, type: each.dataType, shape});
    }
    return found;
  }

  bytesOf(tensors, i) {
    const view = tensors.get(i).data();
    return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  }

  async run(job, report) {
    const {wasm} = this;
    const bytes = fs.readFileSync(job.model);
    const memory = wasm._malloc(bytes.length);
    wasm.HEAPU8.set(bytes, memory);
    const made = wasm.TFLiteWebModelRunner.CreateFromBufferAndOptions(memory, bytes.length, {
      numThreads: 1, enableWebNNDelegate: false, webNNDevicePreference: 0, webNNNumThreads: 1, enableProfiling: false,
      maxProfilingBufferEntries: 1024, tryReusePlan: false,
    });
    if (!made.ok()) throw new Error(made.errorMessage());
    const runner = made.value();
    report.inputs = this.describe(runner.GetInputs());
    for (const sample of job.samples || []) {
      sample.in.forEach((file, i) => {
        const given = fs.readFileSync(file);
        const place = this.bytesOf(runner.GetInputs(), i);
        if (given.length !== place.length) throw new Error(`input ${i}: ${given.length} bytes found, ${place.length} needed`);
        place.set(given);
      });
      if (!runner.Infer()) throw new Error('Infer() failed');
      const outputs = runner.GetOutputs();
      report.outputs = this.describe(outputs);
      report.outputs.forEach((each, i) => fs.writeFileSync(sample.out[i], this.bytesOf(outputs, i)));
    }
    runner.delete();
    wasm._free(memory);
  }
}

async function main() {
  const words = process.argv.slice(2);
  const isInterpreter = words[0] === '--interpreter';
  const file = words[isInterpreter ? 1 : 0];
  if (!file) throw new Error('usage: node run.js [--interpreter] JOBS.jsonl');
  const judges = new Map();
  const judgeOf = async job => {
    const kind = isInterpreter || job.interpreter ? Interpreter : LiteRt;
    if (!judges.has(kind)) judges.set(kind, await kind.open());
    return judges.get(kind);
  };
  let failed = 0;
  const lines = require('readline').createInterface({input: file === '-' ? process.stdin : fs.createReadStream(file)});
  for await (const line of lines) {
    if (!line) continue;
    const job = JSON.parse(line);
    const report = {model: job.model};
    messages.length = 0;
    try {
      await (await judgeOf(job)).run(job, report);
    } catch (error) {
      report.error = String(error && error.message || error).split('\n').slice(0, 6).join('; ');
    }
    // A node that fails to prepare or to run leaves stale memory as the result, and no error: only the log tells.
    const errors = messages.filter(each => each.startsWith('ERROR'));
    if (!report.error && errors.length > 0) report.error = errors.join('; ');
    if (report.error) ++failed;
    process.stdout.write(JSON.stringify(report) + '\n');
  }
  return failed > 0 ? 1 : 0;
}

main().then(code => { process.exitCode = code; }, error => {
  process.stderr.write(`run.js: ${error && error.message || error}\n`);
  process.exitCode = 2;
});
