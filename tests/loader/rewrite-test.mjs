#!/usr/bin/env node
// Rewrites dumps with kvtool and lets real llama.cpp load the original and the result: same token ids, same position
// ranges, and every sequence goes on with the same logits.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node rewrite-test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {CASES, caseOf} from "./cases.mjs";
import {TOLERANCE, assertContinued, assertSame, logitsMoved} from "./compare.mjs";
import {exchangeKeysAndValues, exchangeRowsOnly} from "./damage.mjs";
import {rangesOf, rewrite, writeChanged} from "./kvtool.mjs";
import {loadAndContinue} from "./loader.mjs";

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-loader-"));
after(() => fs.rmSync(work, {recursive: true}));

const outputFor = (one, what) => path.join(work, `${what.replaceAll(" ", "_")}.${one.name}`);
const load = (one, dump = one.dump) => loadAndContinue({model: one.model, dump, context: one.context});

async function loadOriginal(one) {
    const original = await load(one);
    assertContinued(original);
    return original;
}

// An edit that does nothing would pass every comparison of results.
function assertRearranged(edit, input, output) {
    const before = fs.readFileSync(input), after = fs.readFileSync(output);
    assert.equal(after.length, before.length, "another size");
    if (!edit.startsWith("defrag")) assert.ok(!after.equals(before), "nothing changed");
}

async function checkEdit(one, original, edit) {
    const output = outputFor(one, edit);
    await rewrite(edit, one.dump, output);
    assertRearranged(edit, one.dump, output);
    return assertSame(original, await load(one, output));
}

async function checkCase(t, one) {
    const original = await loadOriginal(one);
    let largest = 0;
    for (const edit of one.edits) {
        await t.test(edit, async () => {
            largest = Math.max(largest, await checkEdit(one, original, edit));
        });
    }
    t.diagnostic(`logits moved by at most ${largest.toFixed(5)} of their spread`);
}

// The damaged file must load like a good one and then give itself away by far more than rounding.
async function assertDamageShows(t, one, what, damage) {
    const damaged = outputFor(one, what), ranges = await rangesOf(one.dump);
    writeChanged(one.dump, damaged, (bytes) => damage(bytes, ranges));
    const original = await loadOriginal(one), result = await load(one, damaged);
    assert.throws(() => assertSame(original, result), /logits moved/);
    const moved = logitsMoved(original, result);
    assert.ok(moved > 10 * TOLERANCE, `too close to the tolerance: ${moved}`);
    t.diagnostic(`${what}: logits moved by ${moved.toFixed(2)} of their spread`);
}

/** The sequences of each cell, "0" or "0,1,2", by index in the file; the sidecar lists the cells in that order. */
function ownersOfCells({dump}) {
    return JSON.parse(fs.readFileSync(dump + ".json", "utf8")).memory[0].cells.map(({seq}) => seq.join());
}

test("rewritten dumps", {concurrency: os.cpus().length}, async (t) => {
    await Promise.all(CASES.map((one) => t.test(one.name, (t) => checkCase(t, one))));
});

/** A copy of a model in which a number (u32) has another value. */
function modelWith(model, key, value) {
    const copy = path.join(work, `${key}-${value}.gguf`);
    writeChanged(model, copy, (bytes) => {
        bytes.writeUInt32LE(value, bytes.indexOf(key) + key.length + 4);  // behind the key and the type
    });
    return copy;
}

// Which cells an index chooses among equals goes by their places (cases.mjs); where it need not choose, order is nothing.
test("every cell of qwen4exp may move where the index leaves none out", async (t) => {
    const one = caseOf("node-llama-cpp-3.21.1.qwen4exp.ggsq"), edits = ["swap 0 3", "swap 8 11", "move 1 16 3", "defrag"];
    const edit = {...one, name: `free.${one.name}`, edits, model: modelWith(one.model, "attention.indexer.top_k", 64)};
    await checkCase(t, edit);
    const chosen = await loadOriginal(one), output = outputFor(one, "swap 8 11 again");
    await rewrite("swap 8 11", one.dump, output);
    assert.ok(logitsMoved(chosen, await load(one, output)) > 10 * TOLERANCE, "the index had to choose, and nothing moved");
});

for (const name of ["llama-simple.ggsn", "llama-nofa-f16.ggsn", "gemma3-swa.seq0.ggsq"]) {
    test(`K and V exchanged in ${name} are noticed`, (t) =>
        assertDamageShows(t, caseOf(name), "K and V exchanged", exchangeKeysAndValues));
}

test("data exchanged between two sequences, labels left behind, is noticed", async (t) => {
    const one = caseOf("llama-multi-uni.ggsn"), owners = ownersOfCells(one);
    const i = owners.lastIndexOf("0"), j = owners.lastIndexOf("1");
    await checkEdit(one, await loadOriginal(one), `swap ${i} ${j}`);
    await assertDamageShows(t, one, "rows only", (bytes, ranges) => exchangeRowsOnly(bytes, ranges, owners.length, i, j));
});

test("data exchanged within a sequence, labels left behind, is noticed", async (t) => {
    const one = caseOf("llama-simple.ggsn"), cells = ownersOfCells(one).length;
    await assertDamageShows(t, one, "rows only", (bytes, ranges) => exchangeRowsOnly(bytes, ranges, cells, 0, cells - 1));
});
