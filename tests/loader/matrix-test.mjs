#!/usr/bin/env node
// Each dump converted to the settings of each other dump of the same run (types, orientation of V, kind kept): real llama.cpp
// v0.4.0 takes the result under those settings, and goes on as from the file that llama.cpp itself saved under them.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node matrix-test.mjs
//
// KVTOOL_CORPUS=FOLDER takes the dumps of modern/dumps below it instead of testdata/modern.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {MODERN_DUMPS, modelPath} from "./corpus.mjs";
import {exchangeKeysAndValues} from "./damage.mjs";
import {rangesOf, runKvtool, writeChanged} from "./kvtool.mjs";
import {Llama} from "./llama.mjs";
import {contextOfSidecar} from "./loader.mjs";

const FOLDER = path.join(MODERN_DUMPS, "b11118");
const NEXT_TOKEN = 100;

// How far the logits may move by the coarser of the two files' types: root mean square, in parts of their spread. See
// convert-test.mjs; a quantized file as the source has lost as much as one as the target, so both may add up.
const TYPE_TOLERANCE = {f32: 0.02, f16: 0.02, bf16: 0.02, q8_0: 0.05, q5_1: 0.15, q5_0: 0.15, q4_1: 0.25, q4_0: 0.4, iq4_nl: 0.4};

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-matrix-"));
after(() => fs.rmSync(work, {recursive: true}));

const llama = new Llama(process.env.KVTOOL_LOADER_PACKAGES ?? ".");
const models = new Map();

function modelOf(name) {
    if (!models.has(name)) models.set(name, llama.model(modelPath(name)));
    return models.get(name);
}

/** What two dumps have in common if they are of one run: everything but how it is stored. */
function runOf({params, header_tokens, seq_id, memory, container}, name) {
    const cells = memory.map((one) => (one.cells ?? []).map(({pos, seq, x, y}) => [pos, seq, x, y]));
    const streams = memory.map(({n_stream}) => n_stream);
    return JSON.stringify([params.model, path.extname(name), seq_id, header_tokens, cells, streams, params["swa-full"], container]);
}

function dumps() {
    return fs.readdirSync(FOLDER).filter((name) => /^[^.]*\.(ggsn|seq0\.ggsq)$/.test(name)).map((name) => {
        const file = path.join(FOLDER, name), sidecar = JSON.parse(fs.readFileSync(file + ".json", "utf8"));
        return {name, file, sidecar, run: runOf(sidecar, name), context: contextOfSidecar(file + ".json")};
    });
}

function pairs(all) {
    return all.flatMap((from) => all.filter((to) => to !== from && to.run === from.run).map((to) => ({from, to})));
}

/** A context with the environment that the writer of a dump had. */
function contextOf({name, sidecar, context}) {
    if (name.includes("-norot")) process.env.LLAMA_ATTN_ROT_DISABLE = "1";
    else delete process.env.LLAMA_ATTN_ROT_DISABLE;
    return modelOf(sidecar.params.model).context(context);
}

function logitsAfter(file, like) {
    const context = contextOf(like);
    const {ok} = like.name.endsWith(".ggsn") ? context.loadSession(file) : context.loadSequence(file, 0);
    assert.ok(ok, `${path.basename(file)} is refused: ${llama.log.slice(-2).join("; ")}`);
    return context.decode(NEXT_TOKEN, context.positions(0)[1] + 1, 0);
}

const rms = (values) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0) / values.length);

function moved(expected, logits) {
    const mean = expected.reduce((sum, x) => sum + x, 0) / expected.length;
    return rms(expected.map((x, i) => x - logits[i])) / rms(expected.map((x) => x - mean));
}

const rotationOf = ({name}) => name.includes("-norot") ? "none" : "hadamard";

async function convert({from, to}, input = from.file) {
    const output = path.join(work, "converted");
    const {status, stderr} = await runKvtool("convert", input, "-q", "--force", "-o", output, "--like", to.file,
        "--model", modelPath(to.sidecar.params.model), "--rotation", rotationOf(from),
        ...(to.name.includes("-norot") ? ["--no-rotation"] : []));
    assert.equal(status, 0, stderr);
    return output;
}

function toleranceOf({from, to}) {
    const ofTypes = ({params}) => ["type-k", "type-v"].map((key) => TYPE_TOLERANCE[params[key] ?? "f16"]);
    const [a, b] = [from, to].map(({sidecar}) => Math.max(...ofTypes(sidecar)));
    return a + b;
}

const native = new Map();

function nativeLogits(dump) {
    if (!native.has(dump)) native.set(dump, logitsAfter(dump.file, dump));
    return native.get(dump);
}

const all = dumps();
const PAIRS = pairs(all);

test("each dump to the settings of each other of its run", async (t) => {
    const furthest = {};
    for (const pair of PAIRS) {
        await t.test(`${pair.from.name} like ${pair.to.name}`, async () => {
            const off = moved(nativeLogits(pair.to), logitsAfter(await convert(pair), pair.to)), most = toleranceOf(pair);
            furthest[most.toFixed(3)] = Math.max(furthest[most.toFixed(3)] ?? 0, off);
            assert.ok(off <= most, `logits moved by ${off.toFixed(4)} of their spread, ${most.toFixed(3)} at most`);
        });
    }
    t.diagnostic(`${PAIRS.length} pairs; furthest by tolerance: ${JSON.stringify(furthest)}`);
    assert.ok(PAIRS.length >= 50, `only ${PAIRS.length} pairs`);
});

test("wrong rows are further off than any tolerance", async (t) => {
    const pair = PAIRS.find(({from, to}) => from.name === "llama-fa-f32.ggsn" && to.name === "llama-fa-q4_0.ggsn");
    const damaged = path.join(work, "damaged"), ranges = await rangesOf(pair.from.file);
    writeChanged(pair.from.file, damaged, (bytes) => exchangeKeysAndValues(bytes, ranges));
    const off = moved(nativeLogits(pair.to), logitsAfter(await convert(pair, damaged), pair.to));
    t.diagnostic(`logits moved by ${off.toFixed(2)} of their spread`);
    assert.ok(off > 0.4 + 0.4, `only ${off}`);
});
