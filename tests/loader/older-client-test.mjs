// Files of today, converted down to sequence version 2, in a client of before August 2026: node-llama-cpp 3.20.0 with its
// llama.cpp b10361 takes them and goes on with the logits that their writers saw.
//
//   KVTOOL=.../kvtool KVTOOL_OLDER_CLIENT_PACKAGES=DIR node older-client-test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {fileURLToPath} from "node:url";
import {runChild} from "./child.mjs";
import {runKvtool} from "./kvtool.mjs";

const TESTDATA = fileURLToPath(new URL("../../testdata/", import.meta.url));
const CHILD = fileURLToPath(new URL("older-client-child.mjs", import.meta.url));
const TIME_LIMIT_MS = 60_000;

// As for the other loaders: other builds and processors; wrong rows are off by 1 and more.
const TOLERANCE = 0.06, FAR_OFF = 0.5;

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-older-"));
after(() => fs.rmSync(work, {recursive: true}));

const modelOf = (name) => path.join(TESTDATA, "models", name);
const readJson = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

/** A file of version 3 and what its writer saw behind it. */
function ofVersion3(name, context = {}) {
    const dump = path.join(TESTDATA, "modern/b11118", name), {params, reload, header_tokens, slot_tokens} = readJson(dump + ".json");
    return {name, dump, writer: "b11118", model: modelOf(params.model), context, tokens: slot_tokens ?? header_tokens,
        logits: reload.next.logits8};
}

/** Sequence 2 of a context of version 4 and what its writer saw behind it. */
function ofVersion4(name, context = {}) {
    const base = path.join(TESTDATA, "server/b0.7.0-library", name), {model, tokens, before_saving} = readJson(base + ".json");
    return {name: name + ".seq2.ggsq", dump: base + ".seq2.ggsq", writer: "0.7.0", model: modelOf(model), context, tokens: tokens["2"],
        logits: before_saving.next2_logits8};
}

const Q8_0 = {experimentalKvCacheKeyType: "Q8_0", experimentalKvCacheValueType: "Q8_0"};

const FILES = [
    ofVersion3("llama-simple.seq0.ggsq"),
    ofVersion3("llama-slot.slot0.ggsq"),
    ofVersion3("llama-fa-q8_0.seq0.ggsq", Q8_0),
    ofVersion3("llamah64-fa-q8_0.seq0.ggsq", Q8_0),
    ofVersion3("lfm2.seq0.ggsq"),
    ofVersion3("gemma3-swa.seq0.ggsq"),
    ofVersion4("llamah64-q8_0-unified", Q8_0),
    ofVersion4("deepseek2-mla-multi-unified"),
    ofVersion4("lfm2-swa-multi-streams"),
];

async function load({dump, model, context}) {
    const {result, end, lastWords} = await runChild(CHILD, {
        packages: process.env.KVTOOL_OLDER_CLIENT_PACKAGES ?? ".", dump, model, token: 100,
        context: {flashAttention: true, ...context},
    }, TIME_LIMIT_MS);
    return result ?? {outcome: "died", message: `${end}: ${lastWords.split("\n").pop()}`};
}

async function convert(one, name, ...options) {
    const output = path.join(work, name);
    const {status, stderr} = await runKvtool("convert", one.dump, "-q", "-o", output, "--loader", "b10361", "--model", one.model,
        "--parallel", "1", ...options);
    assert.equal(status, 0, stderr);
    return {...one, dump: output};
}

/** Logs of probabilities are the logits less one number for all of them. */
function distance(logits, logs) {
    const moved = logits.map((x, id) => x - logs[id]);
    return Math.max(...moved) - Math.min(...moved);
}

for (const one of FILES) {
    test(one.name, async (t) => {
        const result = await load(await convert(one, one.name, "--written-by", one.writer));
        assert.equal(result.outcome, "continued", result.message);
        assert.deepEqual(result.tokens, one.tokens);
        const off = distance(one.logits, result.logs);
        t.diagnostic(`logits off by ${off.toFixed(4)}`);
        assert.ok(off <= TOLERANCE, `logits are off by ${off}`);
    });
}

test("without a conversion it is refused", async () => {
    for (const one of [FILES[0], FILES.at(-1)]) assert.equal((await load(one)).outcome, "refused");
});

test("the wrong word about rotation is far off", async (t) => {
    const one = FILES.find(({name}) => name === "llamah64-fa-q8_0.seq0.ggsq");
    const result = await load(await convert(one, "plain", "--rotation", "none"));
    const off = distance(one.logits, result.logs);
    t.diagnostic(`logits off by ${off.toFixed(2)}`);
    assert.ok(off > FAR_OFF, `only ${off} off`);
});
