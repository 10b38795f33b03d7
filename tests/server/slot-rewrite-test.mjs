#!/usr/bin/env node
// Slot files of the current llama-server: save, rewrite with kvtool, restore in a new server process, continue. The
// rewritten file must continue as the saved one: text, log-probabilities, and how much of the prompt came from the cache.
//
//   KVTOOL=.../kvtool node slot-rewrite-test.mjs DIR      DIR: where the server is, or is put by get-llama-server
//
// Exit status 77 (skipped) when the server cannot be had.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {test} from "node:test";
import {exchangeKeysAndValues} from "../loader/damage.mjs";
import {rangesOf, rewrite, runKvtool, writeChanged} from "../loader/kvtool.mjs";
import {logProbabilityDifference, restoreAndContinue, saveOneTurn, work} from "./turns.mjs";

// Reordered cells are added up in another order, see TOLERANCE in ../loader/compare.mjs. Seen here: up to 0.017.
const LOG_PROBABILITY_TOLERANCE = 0.05;

// Across the end of the first prompt, which is a few cells before the last of n: what the server forgets goes by labels.
const ofCells = (n, where = "") => [`swap 1 ${n - 2}${where}`, `move 1 ${n - 3} 3${where}`, "defrag"];
const CASES = [
    {name: "llama", model: "llama.gguf", edits: ofCells},
    {name: "llama, V transposed", model: "llama.gguf", args: ["-fa", "off"], edits: ofCells},
    {name: "llama, a stream for each slot", model: "llama.gguf", args: ["-np", 3, "--no-kv-unified"], slot: 1,
        edits: (n) => ofCells(n, " --stream 1")},
    {name: "gemma3, a window and checkpoints", model: "gemma3.gguf", hasTail: true,
        edits: (n) => [...ofCells(n), "swap 1 9 --memory 1"]},
    {name: "lfm2, recurrent part and checkpoints", model: "lfm2.gguf", edits: ofCells, hasTail: true},
    {name: "jamba, recurrent part and checkpoints", model: "jamba.gguf", edits: ofCells, hasTail: true},
];

function assertSame(original, rewritten) {
    for (const key of ["restored", "fromCache", "text", "tokens"]) assert.deepEqual(rewritten[key], original[key], key);
    const difference = logProbabilityDifference(original, rewritten);
    assert.ok(difference <= LOG_PROBABILITY_TOLERANCE, `log-probabilities differ by ${difference}`);
    return difference;
}

/** Writes a changed copy of a saved file and gives its name. */
async function changedCopy(filename, what, change) {
    const input = path.join(work, filename), ranges = await rangesOf(input);
    writeChanged(input, path.join(work, what + filename), (bytes) => change(bytes, ranges));
    return what + filename;
}

async function checkEdit(one, filename, original, edit) {
    const output = `${edit.replaceAll(" ", "_")}.${filename}`;
    await rewrite(edit, path.join(work, filename), path.join(work, output));
    return assertSame(original, await restoreAndContinue(one, output));
}

async function checkEdits(t, one, filename, original) {
    let largest = 0;
    for (const edit of one.edits(original.restored)) {
        await t.test(edit, async () => {
            largest = Math.max(largest, await checkEdit(one, filename, original, edit));
        });
    }
    t.diagnostic(`${original.fromCache} tokens from the cache; log-probabilities moved by at most ${largest.toFixed(4)}`);
}

function withoutTail(bytes, ranges) {
    const tail = ranges.filter(({label}) => label.startsWith("tail")).map(({offset}) => offset);
    assert.ok(tail.length > 0, "kvtool map shows no tail");
    return bytes.subarray(0, Math.min(...tail));
}

// The server says nothing of a lost tail; it only computes the whole prompt again.
async function checkTailMatters(one, filename) {
    const result = await restoreAndContinue(one, await changedCopy(filename, "no-tail.", withoutTail));
    assert.equal(result.fromCache, 0);
}

async function checkDamageShows(one, filename, original) {
    const damaged = await restoreAndContinue(one, await changedCopy(filename, "k-and-v.", exchangeKeysAndValues));
    assert.throws(() => assertSame(original, damaged), /text|tokens|log-probabilities/);
}

/** A newer server may have moved on to a format that this kvtool has never heard of. */
async function assertVersionKnown(filename) {
    const file = path.join(work, filename), version = fs.readFileSync(file).readUInt32LE(4);
    const {status, stderr} = await runKvtool("inspect", file);
    if (status === 0) return;
    const known = (await runKvtool("--version")).stdout.trim();
    assert.fail(`this llama-server writes sequence version ${version}; kvtool knows: ${known}; it says: ${stderr.trim()}`);
}

for (const one of CASES) {
    test(one.name, async (t) => {
        const filename = `${CASES.indexOf(one)}.ggsq`;
        assert.ok(await saveOneTurn(one, filename) > 0, "the server saved an empty slot");
        await assertVersionKnown(filename);
        const original = await restoreAndContinue(one, filename);
        assert.ok(original.fromCache > 0, "the saved file itself is of no use to the server");
        await checkEdits(t, one, filename, original);
        if (one.hasTail) await t.test("without its tail everything is computed again", () => checkTailMatters(one, filename));
        else await t.test("K and V exchanged are noticed", () => checkDamageShows(one, filename, original));
    });
}
