#!/usr/bin/env node
// Our quantizers against those inside real llama.cpp, bit for bit, over random rows and rows of ties, zeros, subnormals,
// huge numbers and infinities.
//
//   KVTOOL_LOADER_PACKAGES=DIR QUANTIZE_ROWS=PROGRAM node quantize-test.mjs
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import {test} from "node:test";

const packages = path.resolve(process.env.KVTOOL_LOADER_PACKAGES ?? ".");
const koffi = createRequire(path.join(packages, "package.json"))("koffi");
const folder = fs.realpathSync(path.join(packages, "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"));
const open = (name) => koffi.load(path.join(folder, name), {global: true});

const base = open("libggml-base.so");
// What a machine with AVX2 runs; on others only ggml's reference can be called.
const hasAvx2 = /\bavx2\b/.test(fs.readFileSync("/proc/cpuinfo", "utf8"));
const cpu = hasAvx2 ? open("libggml-cpu-haswell.so") : undefined;

const BLOCK = 32;

/** Bytes of a block and the function that llama.cpp calls when it stores a row of that type in its cache. */
const TYPES = {
    f16: {elements: 1, bytes: 2, library: cpu, symbol: "ggml_cpu_fp32_to_fp16"},
    bf16: {elements: 1, bytes: 2, library: base, symbol: "ggml_fp32_to_bf16_row_ref"},
    q8_0: {elements: BLOCK, bytes: 34, library: cpu, symbol: "quantize_row_q8_0"},
    q4_0: {elements: BLOCK, bytes: 18, library: base, symbol: "quantize_row_q4_0_ref"},
    q4_1: {elements: BLOCK, bytes: 20, library: base, symbol: "quantize_row_q4_1_ref"},
    q5_0: {elements: BLOCK, bytes: 22, library: base, symbol: "quantize_row_q5_0_ref"},
    q5_1: {elements: BLOCK, bytes: 24, library: base, symbol: "quantize_row_q5_1_ref"},
    iq4_nl: {elements: BLOCK, bytes: 18, library: base, symbol: "quantize_row_iq4_nl_ref"},
};

function theirs({elements, bytes, library, symbol}, rows) {
    const out = Buffer.alloc(rows.length / elements * bytes);
    library.func(`void ${symbol}(const float *in, void *out, int64 count)`)(rows, out, rows.length);
    return out;
}

function ours(type, rows) {
    const input = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength);
    return execFileSync(process.env.QUANTIZE_ROWS, [type], {input, maxBuffer: 1 << 30});
}

/** The same numbers on every run: a small generator of 32-bit words. */
function generator(seed) {
    let state = seed;
    return () => {
        state = (state + 0x9e3779b9) >>> 0;
        let x = Math.imul(state ^ state >>> 16, 0x21f0aaad);
        x = Math.imul(x ^ x >>> 15, 0x735a2d97);
        return (x ^ x >>> 15) >>> 0;
    };
}

const next = generator(3);
const uniform = () => next() / 2 ** 32;
const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
const pick = (list) => list[next() % list.length];

const SPECIAL = [0, -0, 1e-45, -1e-45, 1e-40, 6e-8, 5.9e-8, 65504, 65519.99, 65520, -7e4, 3.4e38, -3.4e38, 1, -1, 127, 8.5, Infinity, -Infinity];

/** One block each call. */
const KINDS = {
    "of one size": () => Array.from({length: BLOCK}, normal),
    "of every size": () => {
        const size = 2 ** (next() % 276 - 149);
        return Array.from({length: BLOCK}, () => normal() * size);
    },
    "of ties": () => {
        const furthest = pick([127, -127, 8, -8, 16, -16, 15, 31, 254, 1]);
        return [furthest, ...Array.from({length: BLOCK - 1}, () => (next() % 255 - 127) / 254 * Math.abs(furthest))];
    },
    "of whole and half numbers": () => Array.from({length: BLOCK}, () => (next() % 511 - 255) / 2),
    "of zeros and one other": () => Array.from({length: BLOCK}, (_, i) => i === 5 ? pick(SPECIAL) : pick([0, -0])),
    "of equal elements": () => Array(BLOCK).fill(pick([0.1, -3, 1e-30, 1e30, 0, -0])),
    "of two signs": () => Array.from({length: BLOCK}, () => pick([1, -1]) * 2.5),
    "of subnormals": () => Array.from({length: BLOCK}, () => (next() % 4001 - 2000) * 1.4e-45),
    "of subnormal halves": () => Array.from({length: BLOCK}, () => (next() % 4001 - 2000) * 2 ** -25.5),
    "of special numbers": () => Array.from({length: BLOCK}, () => pick(SPECIAL)),
    "with special numbers": () => Array.from({length: BLOCK}, () => next() % 6 ? normal() : pick(SPECIAL)),
};

const rowsOf = (kind, blocks) => Float32Array.from(Array.from({length: blocks}, KINDS[kind]).flat());

/** A scale of zero makes all levels stand for zero; ggml leaves there what it had in memory. */
const levelsCount = (type, scale) => type !== "iq4_nl" || (scale & 0x7fff) !== 0;

function firstDifference(type, rows, a, b) {
    const {bytes, elements} = TYPES[type];
    assert.equal(a.length, b.length);
    for (let at = 0; at < a.length; at += bytes) {
        const size = levelsCount(type, b.readUInt16LE(at)) ? bytes : 2;
        if (!a.subarray(at, at + size).equals(b.subarray(at, at + size))) {
            const first = at / bytes * elements;
            return `[${rows.subarray(first, first + elements)}]: ours ${a.toString("hex", at, at + bytes)}, theirs ${b.toString("hex", at, at + bytes)}`;
        }
    }
    return undefined;
}

for (const [type, description] of Object.entries(TYPES)) {
    test(type, {skip: !description.library && "needs AVX2"}, async (t) => {
        for (const kind of Object.keys(KINDS)) {
            const rows = rowsOf(kind, 2000);
            await t.test(`blocks ${kind}`, () => {
                assert.equal(firstDifference(type, rows, ours(type, rows), theirs(description, rows)), undefined);
            });
        }
    });
}

// The comparison must be able to fail: ggml's reference for q8_0 rounds ties otherwise than what it uses for caches.
test("another way of rounding shows", () => {
    const other = {...TYPES.q8_0, library: base, symbol: "quantize_row_q8_0_ref"}, rows = rowsOf("of ties", 2000);
    assert.notEqual(firstDifference("q8_0", rows, ours("q8_0", rows), theirs(other, rows)), undefined);
});
