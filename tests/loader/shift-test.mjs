#!/usr/bin/env node
// Position shifts by kvtool against real llama.cpp: against its own llama_memory_seq_add, and against the same tokens
// computed at the other positions from the start, which holds for models that llama.cpp does not shift.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node shift-test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {caseOf} from "./cases.mjs";
import {TOLERANCE, assertContinued, logitsMoved} from "./compare.mjs";
import {writeExtended} from "./gguf.mjs";
import {runKvtool} from "./kvtool.mjs";
import {live} from "./live.mjs";
import {CACHE_TYPES} from "./llama.mjs";
import {loadAndContinue} from "./loader.mjs";

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-shift-"));
after(() => fs.rmSync(work, {recursive: true}));

let count = 0;
const fresh = (what) => path.join(work, `${count++}.${what}`);
const MODELS = path.dirname(caseOf("llama-simple.ggsn").model);
const model = (name) => path.join(MODELS, name + ".gguf");

// How far K may be from llama.cpp's, as a part of its length: one rounding of the type more or less.
const K_TOLERANCE = {f32: 1e-5, f16: 1e-3, bf16: 6e-3, q8_0: 0.012, q5_1: 0.06, q5_0: 0.07, q4_1: 0.13, q4_0: 0.15, iq4_nl: 0.15};

async function kvtool(...args) {
    const {status, stdout, stderr} = await runKvtool(...args);
    assert.ok(status === 0 || (status === 1 && args[0] === "diff"), stderr);
    return stdout;
}

/**
 * The worst distance of K, and of V, over all layers; cells and labels have to be the same. But the token that llama.cpp
 * computes before it saves may take the place of a window cell that nobody sees any more: `lost`.
 */
async function distance(a, b, lost = 0) {
    const {cells, tensors} = JSON.parse(await kvtool("diff", a, b, "--json"));
    for (const {memory, only_a, only_b} of cells)
        assert.ok(only_a === 0 && only_b <= (memory === 1 ? lost : 0), "other cells");
    const worst = (wanted) => Math.max(0, ...tensors.filter(wanted).map((t) => t.relative_l2));
    return {
        k: worst(({part}) => part === "k"), v: worst(({part}) => part === "v"),
        first: worst(({part, memory, layer}) => part === "k" && memory === 0 && layer === 0),
    };
}

const tokensOf = (file) => {
    const bytes = fs.readFileSync(file);
    return Array.from({length: bytes.readUInt32LE(8)}, (_, i) => bytes.readInt32LE(12 + 4 * i));
};

// --- against llama_memory_seq_add ---

// File: model, type of K, window cells that llama.cpp may lose. This build of llama.cpp ends itself (SIGSEGV) when it
// shifts quantized K, so that is compared with K computed elsewhere only.
const SHIFTED = {
    "llama-simple.ggsn": ["llama", "f16"], "llama-nofa-f16.ggsn": ["llama", "f16"], "gemma3-nofa.ggsn": ["gemma3", "f16", 1], "ds2mla.ggsn": ["deepseek2-mla", "f16"], "ds2mha-nofa.ggsn": ["deepseek2-mha", "f16"],
};

async function shiftedLive(one, by, from) {
    const output = fresh("live");
    await live(one.model, one.context, [["session", one.dump], ["add", 0, from, -1, by], ["save", output, tokensOf(one.dump)]]);
    return output;
}

async function shifted(one, name, by, from, ...options) {
    const output = fresh("shifted");
    await kvtool("seq", "shift", one.dump, "--pos", `${from}:`, "--by", String(by), "-m", model(name), "--rotation", "none", ...options, "-o", output);
    return output;
}

for (const [file, [name, type, lost]] of Object.entries(SHIFTED)) {
    test(`${file}: kvtool shifts as llama_memory_seq_add does`, async (t) => {
        const one = caseOf(file);
        const theirs = await shiftedLive(one, 7, 0), ours = await shifted(one, name, 7, 0);
        const {k, v} = await distance(theirs, ours, lost);
        assert.ok(k <= K_TOLERANCE[type], `K is off by ${k} of its length`);
        assert.equal(v, 0);
        const next = (dump) => loadAndContinue({model: one.model, dump, context: one.context});
        const [original, result] = [await next(theirs), await next(ours)];
        assertContinued(original);
        assertContinued(result);
        // the lost cell is seen again from the middle of the sequence
        const moved = lost ? logitsMoved({next: original.next.slice(0, 1)}, {next: result.next.slice(0, 1)}) : logitsMoved(original, result);
        assert.ok(moved <= TOLERANCE, `logits moved by ${moved} of their spread`);
        t.diagnostic(`K off by ${k.toExponential(2)} of its length, logits by ${moved.toFixed(5)} of their spread`);
    });

    test(`${file}: wrong shifts are noticed`, async (t) => {
        const one = caseOf(file), theirs = await shiftedLive(one, 7, 0);
        const pairs = name === "gemma3" ? "norm" : "neox";
        const wrong = {
            "the wrong pairs": await shifted(one, name, 7, 0, "--rope-pairs", pairs),
            "labels only": await shifted(one, name, 7, 0, "--labels-only"),
        };
        for (const [what, ours] of Object.entries(wrong)) {
            const {k} = await distance(theirs, ours, lost);
            assert.ok(k > 10 * K_TOLERANCE[type], `${what}: K is off by ${k} only`);
            t.diagnostic(`${what}: K off by ${k.toFixed(3)} of its length`);
        }
        await assert.rejects(distance(theirs, await shifted(one, name, 8, 0), lost), /other cells/);
        // the same labels, K turned by one position more
        const more = fresh("more");
        await kvtool("seq", "shift", await shifted(one, name, 8, 0), "--by", "-1", "--labels-only", "-o", more);
        const {k} = await distance(theirs, more, lost);
        assert.ok(k > 10 * K_TOLERANCE[type], `a position more: K is off by ${k} only`);
    });
}

// --- against the same tokens computed elsewhere ---

const TOKENS = [40, 58, 90, 136, 196, 112, 256, 117, 289, 178];
const CONTEXT = {n_ctx: 128, n_batch: 64, n_ubatch: 64, n_seq_max: 1, flash_attn_type: 1, swa_full: false};

// Model, fields of the context, options of kvtool, type of K.
const FRESH = [
    ["llama", {}, [], "f16"], ["llama", {type_k: CACHE_TYPES.f32, type_v: CACHE_TYPES.f32}, [], "f32"],
    ["llama", {type_k: CACHE_TYPES.bf16, type_v: CACHE_TYPES.bf16}, [], "bf16"],
    ...["q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"].map((type) =>
        ["llama", {type_k: CACHE_TYPES[type], type_v: CACHE_TYPES.f16}, ["--rotation", "none"], type]),
    ["llama-h64", {type_k: CACHE_TYPES.q8_0, type_v: CACHE_TYPES.q8_0}, ["--rotation", "hadamard"], "q8_0"],
    ["llama-h64", {type_k: CACHE_TYPES.q4_0, type_v: CACHE_TYPES.q4_0}, ["--rotation", "hadamard"], "q4_0"],
    ["llama", {rope_freq_base: 500000}, ["--rope-freq-base", "500000"], "f16"],
    ["llama", {rope_scaling_type: 1, rope_freq_scale: 0.25}, ["--rope-scaling", "linear", "--rope-freq-scale", "0.25"], "f16"],
    ["llama", {rope_scaling_type: 2, rope_freq_scale: 0.25, yarn_orig_ctx: 64},
        ["--rope-scaling", "yarn", "--rope-freq-scale", "0.25", "--yarn-orig-ctx", "64"], "f16"],
    ["gemma3", {}, [], "f16"], ["gemma3", {rope_freq_base: 1e6}, ["--rope-freq-base", "1000000"], "f16"],
    ["qwen2vl", {}, [], "f16"], ["deepseek2-mla", {}, [], "f16"], ["deepseek2-mha", {}, [], "f16"],
    ["deepseek32", {}, [], "f16"], ["minimax-m3", {}, [], "f16"], ["lfm2", {}, [], "f16"], ["jamba", {}, [], "f16"],
    // in f16 its index chooses other cells for deeper layers
    ["qwen4exp", {type_k: CACHE_TYPES.f32, type_v: CACHE_TYPES.f32}, [], "f32"],
];

// Sixteen factors that differ, as those of Llama 3 and of longrope do.
const factors = (slope) => Array.from({length: 16}, (_, i) => 1 + slope * i);

function extendedModel(name, extension) {
    const file = path.join(work, name + ".gguf");
    writeExtended(model("llama"), file, extension);
    return file;
}

const FACTOR_MODELS = {
    "llama3-factors": {tensors: {"rope_freqs.weight": factors(0.5)}},
    "longrope": {
        keys: {"llama.rope.scaling.type": "longrope"},
        tensors: {"rope_factors_long.weight": factors(1), "rope_factors_short.weight": factors(0.1)},
    },
};

async function computedAt(file, context, position) {
    const output = fresh("computed");
    await live(file, {...CONTEXT, ...context},
        [["decode", TOKENS, position, 0], ["save-sequence", output, 0, TOKENS]]);
    return output;
}

for (const [name, context, options, type] of FRESH) {
    test(`${name} ${JSON.stringify(context)}: K computed elsewhere is K shifted there`, async (t) => {
        const by = 23, here = await computedAt(model(name), context, 0), there = await computedAt(model(name), context, by);
        const ours = fresh("shifted"), labels = fresh("labels");
        await kvtool("seq", "shift", here, "--by", String(by), "-m", model(name), ...options, "-o", ours);
        await kvtool("seq", "shift", here, "--by", String(by), "--labels-only", "-o", labels);
        const {k, first} = await distance(there, ours), wrong = (await distance(there, labels)).k;
        t.diagnostic(`K off by ${k.toExponential(2)} of its length, ${first.toExponential(2)} in the first layer; ` +
            `with labels alone by ${wrong.toFixed(3)}`);
        // K of the first layer depends on the token alone; deeper layers add what attention rounds, in f16
        assert.ok(first <= 2 * K_TOLERANCE[type], `K of the first layer is off by ${first} of its length`);
        assert.ok(k <= 3 * Math.max(K_TOLERANCE[type], K_TOLERANCE.f16), `K is off by ${k} of its length`);
        if (name !== "jamba") assert.ok(wrong > 0.1, `without turning K is off by ${wrong} only`);
    });
}

// Model, options of kvtool, fields of the context, and options that are wrong for it.
const BY_FACTORS = [
    ["llama3-factors", [], {}, null],
    ["longrope", ["--ctx-size", "256"], {n_ctx: 256}, ["--ctx-size", "8192"]],
    ["longrope", ["--ctx-size", "8192"], {n_ctx: 8192}, ["--ctx-size", "256"]],
];

for (const [name, options, context, wrongOptions] of BY_FACTORS) {
    test(`${name} ${options.join(" ")}: factors from the model's file`, async (t) => {
        const by = 23, file = extendedModel(name, FACTOR_MODELS[name]);
        const here = await computedAt(file, context, 0), there = await computedAt(file, context, by);
        const shiftedBy = async (modelFile, more) => {
            const output = fresh("shifted");
            await kvtool("seq", "shift", here, "--by", String(by), "-m", modelFile, ...more, "-o", output);
            return distance(there, output);
        };
        const right = await shiftedBy(file, options), wrong = wrongOptions ? await shiftedBy(file, wrongOptions) : await shiftedBy(model("llama"), []);
        t.diagnostic(`K off by ${right.k.toExponential(2)} of its length; with other factors by ${wrong.k.toFixed(3)}`);
        assert.ok(right.first <= 2 * K_TOLERANCE.f16, `K of the first layer is off by ${right.first}`);
        assert.ok(right.k <= 3 * K_TOLERANCE.f16, `K is off by ${right.k}`);
        assert.ok(wrong.k > 0.05, `other factors: K is off by ${wrong.k} only`);
    });
}

test("longrope without the size of the context is refused", async () => {
    const file = extendedModel("longrope", FACTOR_MODELS.longrope), dump = caseOf("llama-simple.ggsn").dump;
    const {status, stderr} = await runKvtool("seq", "shift", dump, "--by", "3", "-m", file, "-o", fresh("refused"));
    assert.equal(status, 2);
    assert.match(stderr, /say --ctx-size N/);
});
