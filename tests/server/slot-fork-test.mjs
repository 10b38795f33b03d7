#!/usr/bin/env node
// What the server of ik_llama.cpp saved, converted for llama-server: it restores the slot, takes as much of the next prompt
// from it as the fork's server did, and gives the probabilities that that one noted.
//
//   KVTOOL=.../kvtool node slot-fork-test.mjs DIR      DIR: where the server is, or is put by get-llama-server
//
// KVTOOL_CORPUS=FOLDER takes all slot files of the fork below it instead of those in testdata/.
// Exit status 77 (skipped) when the server cannot be had.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {test} from "node:test";
import {modelPath, SERVER_DUMPS} from "../loader/corpus.mjs";
import {runKvtool} from "../loader/kvtool.mjs";
import {COMPLETION, onSlot, withServer, work} from "./turns.mjs";

// Logs of probabilities, which the fork writes with four digits; what is computed from quantized rows differs more.
const TOLERANCE = 0.06, TOLERANCE_OF_QUANTIZED = 0.1, FAR_OFF = 1;
const LLAMA_CPP_TYPES = ["f16", "bf16", "f32", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"];
// From a cache of its own types the fork computed other things with heads of 32 than from all other types: that is no measure.
// The two agree with each other, which q8_kv_test looks at.
const OWN_TYPES = ["q6_0", "q8_KV"];
// The last cells of such a file were never saved.
const WHOLE_CELLS_OF_Q8_KV = 30;

/** A value behind an option of the command that started the server. */
const option = (command, name, otherwise) => command.includes(name) ? command[command.indexOf(name) + 1] : otherwise;

function describe(folder, name) {
    const file = path.join(SERVER_DUMPS, folder, name);
    const sidecar = JSON.parse(fs.readFileSync(file.replace(/\.ggsq$/, ".json"), "utf8"));
    const {command, model, tokens, restore} = sidecar;
    return {name: `${folder}/${name}`, file, model, tokens, types: ["-ctk", "-ctv"].map((key) => option(command, key, "f16")),
        rotated: command.includes("-khad"), then: restore?.then_completion};
}

/** Files that the fork's own server restored and went on from. */
const slots = ["ik_llama", "ik_llama-v3"]
    .flatMap((folder) => fs.existsSync(path.join(SERVER_DUMPS, folder))
        ? fs.readdirSync(path.join(SERVER_DUMPS, folder)).filter((name) => name.endsWith(".ggsq")).map((name) => describe(folder, name)) : [])
    .filter(({then}) => then?.response?.body?.first_token_top);

const fitting = (type) => LLAMA_CPP_TYPES.includes(type) ? type : "f16";
let outputs = 0;

// The models of some files are not among those of the tests; that is no matter, as these are no plain caches.
const modelOption = (model) => fs.existsSync(modelPath(model)) ? ["--model", modelPath(model)] : [];

async function convert({file, model, types, rotated}) {
    const name = `fork-${outputs++}.ggsq`, [k, v] = types.map(fitting);
    const {status, stderr} = await runKvtool("convert", file, "-q", "-o", path.join(work, name), "--to", "ggsq", "--loader", "0.7.0",
        ...modelOption(model), "--rotation", rotated ? "hadamard" : "none", "--parallel", "1", "--kv-unified", "--flash-attn", "on", "-ctk", k, "-ctv", v, "--drop", "cells");
    return {name, status, stderr};
}

/** What the server makes of the prompt that the fork's server was given. */
function goOn({model, types, then}, filename) {
    const [k, v] = types.map(fitting);
    return withServer({model, args: ["-fa", "on", "-ctk", k, "-ctv", v]}, async (server) => {
        const {n_restored} = await onSlot(server, {}, "restore", filename);
        const answer = await server.post("/completion", {...COMPLETION, n_predict: 1, n_probs: 50, prompt: then.prompt, id_slot: 0});
        return {restored: n_restored, fromCache: answer.timings.cache_n, top: answer.completion_probabilities[0].top_logprobs};
    });
}

/** How a single byte is written in the sidecars. */
const nameOf = ({token, bytes}) =>
    bytes.length === 1 && bytes[0] >= 0x80 ? `byte: \\x${bytes[0].toString(16)}` : token;

/** How far the three most probable tokens of the fork's server are apart from each other in another way; infinite if one is not
 *  listed. Both servers scale what they tell, each in its way. */
function distance({then}, top) {
    const found = new Map(top.map((entry) => [nameOf(entry), entry.logprob]));
    const moved = then.response.body.first_token_top.map(({tok, prob}) => Math.log(prob) - (found.get(tok) ?? -Infinity));
    return Math.max(...moved) - Math.min(...moved);
}

const reusedByFork = ({then: {response: {body}}}) => body.tokens_evaluated - body.timings.prompt_n;

async function checkSlot(t, one, counts) {
    const {name, status, stderr} = await convert(one);
    if (status !== 0) {
        assert.match(stderr, /only plain caches|keeps other caches/, stderr);
        counts.refused++;
        return t.diagnostic(stderr.trim());
    }
    const {restored, fromCache, top} = await goOn(one, name), [k] = one.types;
    assert.equal(restored, k === "q8_KV" ? WHOLE_CELLS_OF_Q8_KV : one.tokens.length);
    assert.equal(fromCache, reusedByFork(one), "reused");
    counts.restored++;
    if (OWN_TYPES.includes(k)) return t.diagnostic("restored; what the fork computed from it is no measure");
    const off = distance(one, top);
    t.diagnostic(`log probabilities off by ${off.toFixed(4)}`);
    assert.ok(off <= (k.startsWith("q") ? TOLERANCE_OF_QUANTIZED : TOLERANCE), `log probabilities are off by ${off}`);
    counts.compared++;
    counts.furthest = Math.max(counts.furthest, off);
}

test("slots of ik_llama.cpp go on in llama-server", {concurrency: os.cpus().length}, async (t) => {
    const counts = {restored: 0, refused: 0, compared: 0, furthest: 0};
    await Promise.all(slots.map((one) => t.test(one.name, (t) => checkSlot(t, one, counts))));
    t.diagnostic(`${counts.restored} of ${slots.length} are restored, ${counts.compared} with the probabilities of the fork, their logs off by ` +
        `${counts.furthest.toFixed(4)} at most; ${counts.refused} are no plain caches`);
    assert.ok(counts.compared >= 2, `only ${counts.compared} files were compared`);
});

test("K and V exchanged give other probabilities", async () => {
    const one = slots.find(({name}) => name.endsWith("/llama-f16.ggsq")), {name} = await convert(one);
    const file = path.join(work, name), {ranges} = JSON.parse((await runKvtool("map", "--json", file)).stdout);
    const [k, v] = ["k_data", "v_data"].map((part) => ranges.find(({label}) => label.endsWith(`layer[0].${part}`)));
    const bytes = fs.readFileSync(file), whole = Buffer.from(bytes);
    whole.copy(bytes, k.offset, v.offset, v.offset + v.size);
    whole.copy(bytes, v.offset, k.offset, k.offset + k.size);
    fs.writeFileSync(path.join(work, "exchanged.ggsq"), bytes);
    const {top} = await goOn(one, "exchanged.ggsq");
    assert.ok(distance(one, top) > FAR_OFF, `off by ${distance(one, top)}`);
});
