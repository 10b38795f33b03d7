#!/usr/bin/env node
// trained-loss.mjs [FOLDER]: what conversion costs a model that has learned something. FOLDER (trained/ below
// $KVTOOL_CORPUS if not given) holds dumps of a trained model, the models, and sidecars with the text that continues each
// (continuation.tokens). Every conversion is loaded by real llama.cpp v0.4.0 and reads on; its loss (nats a token) stands
// beside that of the file which llama.cpp saved under the same settings.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node trained-loss.mjs [FOLDER]
//
// Exit status 1 when a loss is further from the native one than its kind allows, or a mistake made on purpose is not; 77,
// with one line, where the folder is not to be had: its files are too large for testdata/.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {runKvtool} from "./kvtool.mjs";
import {CACHE_TYPES, Llama} from "./llama.mjs";

const corpus = process.env.KVTOOL_CORPUS;
const folder = process.argv[2] ?? path.join(corpus ?? "", "trained");
if (!fs.existsSync(path.join(folder, "tiny-trained-f16.gguf"))) {
    console.log("skipped: no dumps of a trained model (KVTOOL_CORPUS)");
    process.exit(77);
}
const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-loss-"));
const llama = new Llama(process.env.KVTOOL_LOADER_PACKAGES ?? ".");
const models = new Map();

// Nats a token, over 127 to 255 tokens; seen: a fifth of each at most.
const NOISE = 0.0005, QUANTIZED = 0.0015, FOUR_BITS = 0.01;
// What a mistake costs at least; seen: 0.018 with the model that has heads of 128 and 256 tokens behind it, 0.10 and more with
// the other.
const MISTAKE = 0.012;

const types = (type) => ["--cache-type-k", type, "--cache-type-v", type];
const HADAMARD = ["--rotation", "hadamard"], PLAIN = ["--rotation", "none"], FOR_PLAIN = ["--no-rotation"];
const SESSION = ["--to", "ggsn"];

// from, options, the native file, how far the loss may be from its loss
const CONVERSIONS = [
    ["chat-256.f16.ggsq", types("f32"), "slot-f32-256.ggsq", NOISE],
    ["chat-512.f16.ggsq", types("bf16"), "slot-bf16-512.ggsq", NOISE],
    ["chat-1024.f16.ggsq", ["--flash-attn", "off"], "slot-f16-vtrans-1024.ggsq", NOISE],
    ["slot-f16-vtrans-1024.ggsq", ["--flash-attn", "on"], "chat-1024.f16.ggsq", NOISE],
    ["chat-512.f16.ggsq", [...SESSION, "--flash-attn", "off"], "session-f16-vtrans-512.ggsn", NOISE],
    ["chat-2048.f16.ggsq", types("q8_0"), "slot-q8_0-2048.ggsq", QUANTIZED],
    ["chat-512.f16.ggsq", [...SESSION, ...types("q8_0")], "session-q8_0-512.ggsn", QUANTIZED],
    ["chat-1024.f16.ggsq", [...types("q8_0"), ...FOR_PLAIN], "slot-q8_0-plain-1024.ggsq", QUANTIZED],
    ["chat-2048.f16.ggsq", types("q4_0"), "slot-q4_0-2048.ggsq", FOUR_BITS],
    ["chat-1024.f16.ggsq", [...types("q4_0"), ...FOR_PLAIN], "slot-q4_0-plain-1024.ggsq", FOUR_BITS],
    ["slot-q8_0-2048.ggsq", [...types("f16"), ...HADAMARD], "chat-2048.f16.ggsq", QUANTIZED],
    ["slot-q8_0-plain-1024.ggsq", [...types("f16"), ...PLAIN], "chat-1024.f16.ggsq", QUANTIZED],
    ["slot-q4_0-2048.ggsq", [...types("f16"), ...HADAMARD], "chat-2048.f16.ggsq", FOUR_BITS],
    ["slot-q4_0-2048.ggsq", [...types("q8_0"), ...HADAMARD], "slot-q8_0-2048.ggsq", FOUR_BITS],
    ["feb25-slot-f16-vtrans-256.ggsq", ["--loader", "v0.4.0", "--flash-attn", "on"], "chat-256.f16.ggsq", NOISE],
    ["feb25-session-f16-256.ggsn", ["--loader", "v0.4.0", "--to", "ggsq", "--drop", "outputs"], "chat-256.f16.ggsq", NOISE],
    ["h128-f16-256.ggsq", types("q8_0"), "h128-q8_0-256.ggsq", QUANTIZED],
    ["h128-f16-256.ggsq", [...types("q8_0"), ...FOR_PLAIN], "h128-q8_0-plain-256.ggsq", QUANTIZED],
    ["h128-f16-256.ggsq", types("q4_0"), "h128-q4_0-256.ggsq", FOUR_BITS],
    ["h128-q8_0-256.ggsq", [...types("f16"), ...HADAMARD], "h128-f16-256.ggsq", QUANTIZED],
    ["h128-f16-256.ggsq", ["--flash-attn", "off"], "h128-f16-vtrans-256.ggsq", NOISE],
];
// The same with a wrong word about rotation: these must be far off.
const MISTAKES = [
    ["slot-q8_0-2048.ggsq", [...types("f16"), ...PLAIN], "chat-2048.f16.ggsq"],
    ["slot-q8_0-plain-1024.ggsq", [...types("f16"), ...HADAMARD], "chat-1024.f16.ggsq"],
    ["chat-2048.f16.ggsq", [...types("q8_0"), ...FOR_PLAIN], "slot-q8_0-2048.ggsq"],
    ["h128-q8_0-256.ggsq", [...types("f16"), ...PLAIN], "h128-f16-256.ggsq"],
];

const sidecarOf = (name) => JSON.parse(fs.readFileSync(path.join(folder, name + ".json"), "utf8"));

function modelOf({model}) {
    if (!models.has(model)) models.set(model, llama.model(path.join(folder, model)));
    return models.get(model);
}

/** A context as the writer of a file had it. */
function contextFor(sidecar) {
    if (sidecar.rotated === false && sidecar.type_k.startsWith("q")) process.env.LLAMA_ATTN_ROT_DISABLE = "1";
    else delete process.env.LLAMA_ATTN_ROT_DISABLE;
    return modelOf(sidecar).context({
        n_ctx: sidecar.n_ctx, n_batch: 512, n_ubatch: 512, n_seq_max: 1, flash_attn_type: sidecar.flash_attn,
        type_k: CACHE_TYPES[sidecar.type_k], type_v: CACHE_TYPES[sidecar.type_v],
    });
}

function logProbability(logits, token) {
    const most = Math.max(...logits);
    return logits[token] - most - Math.log(logits.reduce((sum, x) => sum + Math.exp(x - most), 0));
}

/** Mean loss of the continuation after a file, under the settings of `native`. */
function lossAfter(file, native) {
    const sidecar = sidecarOf(native), context = contextFor(sidecar), {tokens} = sidecar.continuation;
    const {ok} = fs.readFileSync(file).readUInt32LE(0) === 0x6767736e ? context.loadSession(file) : context.loadSequence(file, 0);
    assert.ok(ok, `${file}: refused: ${llama.log.slice(-2).join("; ")}`);
    let loss = 0;
    for (let i = 0; i + 1 < tokens.length; i++)
        loss -= logProbability(context.decode(tokens[i], sidecar.next.pos + i, 0), tokens[i + 1]);
    return loss / (tokens.length - 1);
}

async function convert(name, options) {
    const output = path.join(work, "converted");
    const {status, stderr} = await runKvtool("convert", path.join(folder, name), "-q", "--force", "-o", output,
        "--model", path.join(folder, sidecarOf(name).model), ...options);
    assert.equal(status, 0, stderr);
    return output;
}

const nativeLosses = new Map();

function nativeLoss(name) {
    if (!nativeLosses.has(name)) nativeLosses.set(name, lossAfter(path.join(folder, name), name));
    return nativeLosses.get(name);
}

/** Prints a line and gives the difference of the losses. */
async function report([from, options, native]) {
    const loss = lossAfter(await convert(from, options), native), expected = nativeLoss(native);
    const what = `${from} ${options.join(" ")}`;
    console.log(`${what.padEnd(88)} ${loss.toFixed(5)}  native ${expected.toFixed(5)}  ${(loss - expected).toFixed(5)}`);
    return loss - expected;
}

let failures = 0;
for (const conversion of CONVERSIONS)
    if (!(Math.abs(await report(conversion)) <= conversion[3])) failures++;
console.log("mistakes made on purpose:");
for (const mistake of MISTAKES)
    if (!(await report(mistake) > MISTAKE)) failures++;
fs.rmSync(work, {recursive: true});
if (failures > 0) console.log(`${failures} are not as they should be`);
process.exitCode = failures > 0 ? 1 : 0;
