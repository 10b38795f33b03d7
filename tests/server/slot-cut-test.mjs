#!/usr/bin/env node
// Slot files that kvtool has cut back to a checkpoint, restored by the current llama-server: what is left comes from the
// cache, also without the checkpoints, and goes on as the server does when it goes back to that checkpoint by itself.
// And one that kvtool has shortened in the middle, against the server's own context shift.
//
//   KVTOOL=.../kvtool node slot-cut-test.mjs DIR      DIR: where the server is, or is put by get-llama-server
//
// Exit status 77 (skipped) when the server cannot be had.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {rangesOf, runKvtool, writeChanged} from "../loader/kvtool.mjs";
import {
    complete, firstTokenDifference, onSlot, readFromTheStart, restoreAndContinue, saveOneTurn, withServer, work,
} from "./turns.mjs";

// Log-probability of the first token after the cut: tokens that were computed together or one by one, 0.009 seen.
const TOLERANCE = 0.06, FAR_OFF = 0.5;
const NEXT_TOKENS = [100, 57];
// A server that goes back by itself computes the checkpoint's last token again where its memory has a window.
const CASES = [
    {name: "gemma3", model: "gemma3.gguf", computedAgain: 1},
    {name: "lfm2", model: "lfm2.gguf"},
    {name: "jamba", model: "jamba.gguf"},
    {name: "mamba", model: "mamba.gguf"},
];

const MODELS = fileURLToPath(new URL("../../testdata/models/", import.meta.url));

const inWork = (name) => path.join(work, name);

/** Runs kvtool on a file of the work folder, writes another, gives its name. */
async function rewritten(verb, input, output, ...args) {
    const {status, stderr} = await runKvtool(...verb.split(" "), inWork(input), ...args, "-q", "-o", inWork(output));
    assert.equal(status, 0, stderr);
    return output;
}

const withoutCheckpoints = (file) => rewritten("convert", file, "bare-" + file, "--strip", "checkpoints");
const jsonOf = async (...args) => JSON.parse((await runKvtool(...args, "--json")).stdout);
const storedTokens = async (file) => (await jsonOf("tokens", inWork(file))).ids;

/** The file of one turn, cut back to its first checkpoint, and the prompt that goes on from there. */
async function savedAndCut(one) {
    const saved = `${one.name}.ggsq`;
    assert.ok(await saveOneTurn(one, saved) > 0, "the server saved an empty slot");
    const cut = await rewritten("truncate", saved, `cut-${saved}`, "--to-checkpoint", "0");
    const ids = await storedTokens(cut);
    assert.ok(ids.length > 0 && ids.length < (await storedTokens(saved)).length, "nothing was cut off");
    return {saved, cut, kept: ids.length, prompt: [...ids, ...NEXT_TOKENS]};
}

function assertSame(result, expected) {
    const difference = firstTokenDifference(expected, result);
    assert.ok(difference <= TOLERANCE, `off by ${difference}`);
    assert.equal(result.text, expected.text);
    return difference;
}

// The server that goes back by itself is the reference; the same prompt without any cache another one.
async function checkCut(t, one, {saved, cut, kept, prompt}) {
    const itself = await restoreAndContinue(one, saved, prompt), fresh = await readFromTheStart(one, prompt);
    assert.equal(itself.fromCache, kept - (one.computedAgain ?? 0), "the server does not go back to the checkpoint");
    for (const file of [cut, await withoutCheckpoints(cut)]) {
        const result = await restoreAndContinue(one, file, prompt);
        assert.equal(result.restored, kept);
        assert.equal(result.fromCache, kept, "computed again");
        const moved = assertSame(result, itself);
        t.diagnostic(`${file}: ${result.fromCache} of ${prompt.length} tokens from the cache; first token off by ` +
            `${moved.toFixed(4)}, from a run without cache by ${assertSame(result, fresh).toFixed(4)}`);
    }
}

/** The first tokens with the state of the end: what cutting the tokens alone would make of it. */
async function withStateOfTheEnd(saved, cut) {
    const from = await rangesOf(inWork(saved)), to = await rangesOf(inWork(cut)), mixed = "mixed-" + cut;
    const isState = ({label}) => /^memory\[\d+\]\.layer\[\d+\]\.[rs]_data$/.test(label);
    const end = fs.readFileSync(inWork(saved));
    writeChanged(inWork(cut), inWork(mixed), (bytes) => {
        for (const {label, offset, size} of to.filter(isState)) {
            const source = from.find((range) => range.label === label);
            assert.equal(source.size, size);
            end.copy(bytes, offset, source.offset, source.offset + size);
        }
    });
    return withoutCheckpoints(mixed);
}

async function checkAllIsComputedAgain(one, file, prompt) {
    assert.equal((await restoreAndContinue(one, await withoutCheckpoints(file), prompt)).fromCache, 0);
}

async function checkRefused(saved, kept) {
    const {status, stderr} = await runKvtool("truncate", inWork(saved), String(kept), "-o", inWork("refused"));
    assert.equal(status, 2);
    assert.match(stderr, /a recurrent state .*; there are checkpoints at \d+/);
}

async function checkWrongStateShows(t, one, {saved, cut, kept, prompt}) {
    const result = await restoreAndContinue(one, await withStateOfTheEnd(saved, cut), prompt);
    const difference = firstTokenDifference(await readFromTheStart(one, prompt), result);
    t.diagnostic(`with the state of the end the first token is off by ${difference.toFixed(4)}`);
    assert.equal(result.fromCache, kept);
    assert.ok(difference > FAR_OFF, `only ${difference} off`);
}

for (const one of CASES) {
    test(`${one.name}: cut back to a checkpoint`, async (t) => {
        const parts = await savedAndCut(one), {saved, kept, prompt} = parts;
        await t.test("what is left comes from the cache", () => checkCut(t, one, parts));
        await t.test("uncut and without checkpoints all is computed again",
            () => checkAllIsComputedAgain(one, saved, prompt));
        if (one.name === "gemma3") {
            const plain = await rewritten("truncate", saved, "plain.ggsq", String(kept), "--window", "1");
            await t.test("with less of the window than the cut looks back to, too",
                () => checkAllIsComputedAgain(one, plain, prompt));
        } else {
            await t.test("a plain cut is refused", () => checkRefused(saved, kept));
            await t.test("the tokens of the cut with the state of the end are noticed",
                () => checkWrongStateShows(t, one, parts));
        }
    });
}

// --- a context shift ---

// A server whose context is full drops half of what lies behind the first n_keep tokens and closes the gap. The same
// conversation, saved just before that, and shortened by kvtool.
const SHIFT = {prompt: "in the beginning god created the heaven and the earth", first: 8, end: 131};
// How far K may be off as a part of its length: a rounding of f16 more or less.
const K_TOLERANCE = 1e-3, K_FAR_OFF = 0.05;

/** Saves a conversation of so many tokens, the last generated one not counted; gives how many there are in the file. */
function saveLong(one, filename, tokens) {
    return withServer(one, async (server) => {
        const {tokens: prompt} = await server.post("/tokenize", {content: SHIFT.prompt, add_special: true});
        await server.post("/completion", {
            prompt, n_predict: tokens - prompt.length + 1, n_keep: SHIFT.first, id_slot: 0, cache_prompt: true,
            temperature: 0, seed: 1, ignore_eos: true, grammar: "root ::= [a-z ]{1,900}",
        });
        return (await onSlot(server, one, "save", filename)).n_saved;
    });
}

/** The worst distance of K and of V in the cells that both hold. */
async function distance(a, b) {
    const {tensors, cells} = await jsonOf("diff", inWork(a), inWork(b));
    const worst = (wanted) => Math.max(...tensors.filter(({part}) => part === wanted).map((t) => t.relative_l2));
    return {k: worst("k"), v: worst("v"), cells};
}

/** The last token of the shifted conversation is the one that had no room before. */
async function checkClosed(t, one, closed, shifted) {
    const {k, v, cells} = await distance(closed, shifted), ids = await storedTokens(shifted);
    assert.deepEqual([cells[0].only_a, cells[0].only_b, v], [0, 1, 0]);
    assert.ok(k <= K_TOLERANCE, `K is off by ${k} of its length`);
    const prompt = [...ids, ...NEXT_TOKENS];
    const theirs = await restoreAndContinue(one, shifted, prompt), ours = await restoreAndContinue(one, closed, prompt);
    assert.deepEqual([theirs.fromCache, ours.fromCache], [ids.length, ids.length - 1]);
    const moved = assertSame(ours, theirs);
    t.diagnostic(`K off by ${k.toExponential(1)} of its length, the first token by ${moved.toFixed(4)}`);
}

const close = (input, output, first, end, ...how) =>
    rewritten("seq rm", input, output, "--pos", `${first}:${end}`, "--close", ...how);

// The labels are right in both; K is not turned at all, or by a position less than it should.
async function checkWrongOnesShow(full, shifted, file) {
    const {first, end} = SHIFT;
    const labels = await close(full, "labels-" + full, first, end, "--labels-only");
    const short = await close(full, "short-" + full, first, end - 1, "-m", file);
    const less = await close(short, "less-" + full, first, first + 1, "--labels-only");
    for (const wrong of [labels, less]) {
        const {k, cells} = await distance(wrong, shifted);
        assert.equal(cells[0].only_a, 0);
        assert.ok(k > K_FAR_OFF, `${wrong}: K is off by ${k} only`);
    }
}

for (const model of ["llama", "gemma3"]) {
    test(`${model}: a gap that kvtool closes is the server's context shift`, async (t) => {
        const one = {model: `${model}.gguf`}, file = path.join(MODELS, one.model);
        const full = `${model}-full.ggsq`, shifted = `${model}-shifted.ggsq`, {first, end} = SHIFT;
        assert.equal(await saveLong(one, full, 255), 255);
        assert.equal(await saveLong({...one, args: ["--context-shift"]}, shifted, 256), 256 - (end - first));
        const closed = await close(full, `closed-${full}`, first, end, "-m", file);
        await t.test("cells, values and what follows", (t) => checkClosed(t, one, closed, shifted));
        await t.test("wrong ones are noticed", () => checkWrongOnesShow(full, shifted, file));
    });
}
