// Files of today, converted down to sequence version 2, in a client of before August 2026: node-llama-cpp 3.20.0 with its
// llama.cpp b10361 takes them and goes on with the logits that their writers saw.
//
//   KVTOOL=.../kvtool KVTOOL_OLDER_CLIENT_PACKAGES=DIR node older-client-test.mjs
//
// KVTOOL_CORPUS=FOLDER takes all slot files below it whose writers noted logits, where it is a client's to continue them.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {fileURLToPath} from "node:url";
import {runChild} from "./child.mjs";
import {dumpsIn, modelPath, SERVER_DUMPS, sidecarOf} from "./corpus.mjs";
import {runKvtool} from "./kvtool.mjs";

const CHILD = fileURLToPath(new URL("older-client-child.mjs", import.meta.url));
const TIME_LIMIT_MS = 60_000;

// As for the other loaders: other builds and processors; wrong rows are off by 1 and more. Plain rows of q8_0 are quantized
// once more, because this client rotates them.
const TOLERANCE = 0.06, QUANTIZED_AGAIN = 0.15, FAR_OFF = 0.5;

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-older-"));
after(() => fs.rmSync(work, {recursive: true}));

const together = {concurrency: os.cpus().length};

/** As the client calls a type. */
const clientTypes = (k, v) => ({experimentalKvCacheKeyType: k.toUpperCase(), experimentalKvCacheValueType: v.toUpperCase()});

// Architectures that llama.cpp learned about after b10361.
const isTooYoung = (model) => ["qwen4exp.gguf"].includes(model);

/** A file of version 3 and what its writer saw behind it. */
function ofVersion3(dump) {
    const {params, reload, header_tokens, slot_tokens} = sidecarOf(dump), types = [params["type-k"] ?? "f16", params["type-v"] ?? "f16"];
    return {name: path.basename(dump), dump, writer: "b11118", model: params.model, tokens: slot_tokens ?? header_tokens,
        position: reload.next.pos, logits: reload.next.logits8, context: clientTypes(...types),
        rotation: dump.includes("-norot") ? "none" : "hadamard"};
}

/** Sequences of a context of version 4 that were computed from their first token on, and what their writer saw behind each. */
function ofVersion4(sidecar) {
    const base = sidecar.replace(/\.json$/, ""), {model, options, tokens, before_saving} = JSON.parse(fs.readFileSync(sidecar, "utf8"));
    const type = options.includes("q8_0") ? "q8_0" : "f16";
    return ["0", "2"].map((id) => ({name: `${path.basename(base)}.seq${id}.ggsq`, dump: `${base}.seq${id}.ggsq`, writer: "0.7.0",
        model, tokens: tokens[id], position: before_saving[`next${id}_pos`], logits: before_saving[`next${id}_logits8`],
        context: clientTypes(type, type), rotation: "auto"}));
}

const versions3 = () => dumpsIn("b11118", /\.(seq|slot)\d\.ggsq$/).map(ofVersion3);

// A shift that was pending is in the logits of the writer and not in the file. For several sequences in one cache 0.7.0 computes
// minimax-m3 without its index, whose rows in the file are zero: no other build goes on from there (`check --deep` tells).
const isBeyondFiles = (name) => name.includes("-pending") || name.startsWith("minimax-m3");

function versions4() {
    const folder = path.join(SERVER_DUMPS, "b0.7.0-library");
    return fs.readdirSync(folder).filter((name) => name.endsWith(".json") && !isBeyondFiles(name))
        .flatMap((name) => ofVersion4(path.join(folder, name))).filter(({dump}) => fs.existsSync(dump));
}

// The client goes on at the position that is the number of its tokens.
const canGoOn = ({tokens, position, model, context}) => tokens.length === position && !isTooYoung(model);

const FILES = [...versions3(), ...versions4()].filter(canGoOn);

async function load({dump, model, context}) {
    const {result, end, lastWords} = await runChild(CHILD, {
        packages: process.env.KVTOOL_OLDER_CLIENT_PACKAGES ?? ".", dump, model: modelPath(model), token: 100,
        context: {flashAttention: true, ...context},
    }, TIME_LIMIT_MS);
    return result ?? {outcome: "died", message: `${end}: ${lastWords.split("\n").pop()}`};
}

let outputs = 0;

async function convert(one, name, ...options) {
    const output = path.join(work, name);
    const {status, stderr} = await runKvtool("convert", one.dump, "-q", "-o", output, "--loader", "b10361", "--model", modelPath(one.model),
        "--flash-attn", "on", "--parallel", "1", "--kv-unified", ...options);
    assert.equal(status, 0, stderr);
    return {...one, dump: output};
}

/** Logs of probabilities are the logits less one number for all of them. */
function distance(logits, logs) {
    const moved = logits.map((x, id) => x - logs[id]);
    return Math.max(...moved) - Math.min(...moved);
}

async function offAfter(one, ...options) {
    const result = await load(await convert(one, `${outputs++}`, ...options));
    assert.equal(result.outcome, "continued", result.message);
    assert.deepEqual(result.tokens, one.tokens);
    return distance(one.logits, result.logs);
}

test("files of today give the logits that their writers saw", together, async (t) => {
    const furthest = {"b11118": 0, "0.7.0": 0};
    await Promise.all(FILES.map((one) => t.test(one.name, async (t) => {
        const off = await offAfter(one, "--rotation", one.rotation);
        t.diagnostic(`logits off by ${off.toFixed(4)}`);
        assert.ok(off <= (one.rotation === "none" ? QUANTIZED_AGAIN : TOLERANCE), `logits are off by ${off}`);
        furthest[one.writer] = Math.max(furthest[one.writer], off);
    })));
    for (const [writer, off] of Object.entries(furthest))
        t.diagnostic(`${FILES.filter((one) => one.writer === writer).length} files of ${writer}, off by ${off.toFixed(4)} at most`);
    assert.ok(FILES.length >= 9);
});

test("without a conversion it is refused", async () => {
    for (const one of [FILES[0], FILES.at(-1)]) assert.equal((await load(one)).outcome, "refused");
});

test("the wrong word about rotation is far off", async (t) => {
    const one = FILES.find(({name}) => name === "llamah64-fa-q8_0.seq0.ggsq");
    const off = await offAfter(one, "--rotation", "none");
    t.diagnostic(`logits off by ${off.toFixed(2)}`);
    assert.ok(off > FAR_OFF, `only ${off} off`);
});
