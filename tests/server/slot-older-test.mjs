#!/usr/bin/env node
// What builds of February 2025 to August 2026 saved, converted for the current llama-server: slot files, and sequences of
// sessions. It restores each, takes it up where it ends, and gives the logits that the writer saw there.
//
//   KVTOOL=.../kvtool node slot-older-test.mjs DIR      DIR: where the server is, or is put by get-llama-server
//
// KVTOOL_CORPUS=FOLDER takes all dumps of that time below it, those of clients too, instead of those in testdata/.
// Exit status 77 (skipped) when the server cannot be had.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {test} from "node:test";
import {dumpsIn, modelPath, OLDER, olderClientDumps, rotates, sidecarOf} from "../loader/corpus.mjs";
import {runKvtool} from "../loader/kvtool.mjs";
import {COMPLETION, onSlot, withServer, work} from "./turns.mjs";

// Logits, as everywhere among builds and processors; what is wrong is off by 1 and more.
const TOLERANCE = 0.06, FAR_OFF = 1;
const NEXT_TOKEN = 100, EVERY_TOKEN = 300;

// The K rows of deepseek2 have another order of halves in files of the second half of 2025, and nothing in them says so.
const isSilentlyWrong = ({folder, model}) => ["rn-0.6.7", "b7347"].includes(folder) && model.startsWith("deepseek2");

/** A file of one of our drivers. What it saw behind the last token is known for the sequence that it reloaded. */
function driverDump(folder, file) {
    const {params, header_tokens, seq_id, reload} = sidecarOf(file), {next} = reload;
    return {folder, file, model: params.model, tokens: header_tokens, sequence: seq_id ?? 0, rotated: rotates(folder),
        types: [params["type-k"] ?? "f16", params["type-v"] ?? "f16"],
        expected: next?.logits8 && next.pos === header_tokens.length ? next.logits8.map((x, id) => [id, x]) : undefined};
}

/** A file of a client, which noted the most probable tokens. */
function clientDump({file, model, header_tokens, reload_top5, source}) {
    return {folder: source.llama_cpp, file, model, tokens: header_tokens, sequence: 0, rotated: false, types: ["f16", "f16"],
        expected: reload_top5.map(([id, p]) => [id, Math.log(p)])};
}

const DUMPS = [
    ...OLDER.flatMap((folder) => dumpsIn(folder, /\.ggs[nq]$/).map((file) => driverDump(folder, file))),
    ...olderClientDumps().map(clientDump),
];

let outputs = 0;

async function convert({file, model, sequence, rotated}) {
    const name = `older-${outputs++}.ggsq`;
    const {status, stderr} = await runKvtool("convert", file, "-q", "-o", path.join(work, name), "--to", "ggsq",
        "--loader", "0.7.0", "--model", modelPath(model), "--parallel", "1", "--kv-unified", "--flash-attn", "on",
        "--rotation", rotated ? "hadamard" : "none", "--drop", "outputs", ...(file.endsWith(".ggsn") ? ["--seq", String(sequence)] : []));
    assert.equal(status, 0, stderr);
    return {name, warnings: stderr};
}

const argumentsFor = ({types: [k, v]}) => ["-fa", "on", "-ctk", k, "-ctv", v];

/** What the server answers to a restore, and to the ids of the file and one more. */
function restoreAndContinue(one, filename) {
    const prompt = [...one.tokens, NEXT_TOKEN];
    return withServer({model: one.model, args: argumentsFor(one)}, async (server) => {
        const {n_restored} = await onSlot(server, {}, "restore", filename);
        if (!one.expected) return {restored: n_restored};
        const answer = await server.post("/completion", {...COMPLETION, n_predict: 1, n_probs: EVERY_TOKEN, prompt, id_slot: 0});
        const logs = new Map(answer.completion_probabilities[0].top_logprobs.map(({id, logprob}) => [id, logprob]));
        return {restored: n_restored, fromCache: answer.timings.cache_n, logs};
    });
}

/** Logits and logs of probabilities differ by one number for all of them. */
function distance(expected, logs) {
    const moved = expected.map(([id, x]) => x - logs.get(id));
    return Math.max(...moved) - Math.min(...moved);
}

async function checkDump(t, one, counts) {
    const {name, warnings} = await convert(one), result = await restoreAndContinue(one, name);
    assert.equal(result.restored, one.tokens.length);
    counts.restored++;
    if (!one.expected) return t.diagnostic("restored; it cannot be taken up where its ids end");
    assert.equal(result.fromCache, one.tokens.length, "computed again");
    const off = distance(one.expected, result.logs);
    t.diagnostic(`logits off by ${off.toFixed(4)}`);
    if (isSilentlyWrong(one)) {
        assert.ok(off > FAR_OFF && warnings.includes("K rows"), `off by ${off}: ${warnings}`);
        return counts.warned++;
    }
    assert.ok(off <= TOLERANCE, `logits are off by ${off}`);
    counts.compared++;
    counts.furthest = Math.max(counts.furthest, off);
}

// An image leaves ids of -1 in files of that time, which no server takes.
const holdsImage = ({tokens}) => tokens.includes(-1);

test("older files go on in today's server with the logits of their writers", {concurrency: os.cpus().length}, async (t) => {
    const counts = {restored: 0, compared: 0, warned: 0, furthest: 0}, all = DUMPS.filter((one) => !holdsImage(one));
    await Promise.all(all.map((one) => t.test(`${one.folder}/${path.basename(one.file)}`, (t) => checkDump(t, one, counts))));
    t.diagnostic(`${counts.restored} of ${all.length} are restored; ${counts.compared} give the logits of their writers, off by ` +
        `${counts.furthest.toFixed(4)} at most; ${counts.warned} are silently wrong and convert warns of them; ` +
        `${DUMPS.length - all.length} hold an image`);
    assert.equal(counts.restored, all.length);
    assert.ok(counts.compared >= 10, `only ${counts.compared} files were compared`);
});

test("without a conversion it is refused", async () => {
    const one = DUMPS.find(({file}) => file.endsWith(".ggsq"));
    fs.copyFileSync(one.file, path.join(work, "as-it-is.ggsq"));
    await assert.rejects(restoreAndContinue(one, "as-it-is.ggsq"), /400/);
});
