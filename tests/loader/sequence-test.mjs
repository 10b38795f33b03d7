#!/usr/bin/env node
// What kvtool seq, truncate, extract and merge make of a dump is, byte for byte, what real llama.cpp saves after it did
// the same live through llama_memory_seq_*.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node sequence-test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {caseOf} from "./cases.mjs";
import {runKvtool} from "./kvtool.mjs";
import {live} from "./live.mjs";

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-sequence-"));
after(() => fs.rmSync(work, {recursive: true}));

let count = 0;
const fresh = (what) => path.join(work, `${count++}.${what}`);

async function kvtool(...args) {
    const {status, stderr} = await runKvtool(...args);
    assert.equal(status, 0, stderr);
}

/** Applies kvtool commands one after the other, each written without file and output. */
async function edited(dump, commands) {
    for (const command of commands) {
        const output = fresh("edited");
        const [verb, ...rest] = command.split(" ");
        await (verb === "seq" ? kvtool("seq", rest[0], dump, ...rest.slice(1), "-o", output)
                              : kvtool(verb, dump, ...rest, "-o", output));
        dump = output;
    }
    return dump;
}

// The plain token list of a session or a sequence file: magic, version, count, ids.
function tokensOf(file) {
    const bytes = fs.readFileSync(file);
    return Array.from({length: bytes.readUInt32LE(8)}, (_, i) => bytes.readInt32LE(12 + 4 * i));
}

function assertSameBytes(found, expected) {
    const a = fs.readFileSync(found), b = fs.readFileSync(expected);
    assert.equal(a.length, b.length, "another size");
    const at = a.findIndex((byte, i) => byte !== b[i]);
    assert.equal(at, -1, `byte ${at} differs`);
}

/** The session that llama.cpp saves after the steps; its token list is not llama.cpp's business, the caller gives it. */
async function liveSession(one, steps, tokens) {
    const output = fresh("live");
    await live(one.model, one.context, [["session", one.dump], ...steps, ["save", output, tokens]]);
    return output;
}

const END = -1;
const LABEL_EDITS = {
    "llama-multi-uni.ggsn": [
        [["seq rm --seq 0 --pos 12:15"], [["rm", 0, 12, 15]]],
        [["seq rm --pos 2:4"], [["rm", -1, 2, 4]]],
        [["seq rm --seq 1 --pos 3:5 --pos 15:18"], [["rm", 1, 3, 5], ["rm", 1, 15, 18]]],
        [["seq rm --seq 1"], [["rm", 1, 0, END]]],
        [["seq rm --seq 2", "seq cp 0 2"], [["rm", 2, 0, END], ["cp", 0, 2, 0, END]]],
        [["seq rm --seq 2 --pos 5:", "seq cp 1 2 --pos 6:9"], [["rm", 2, 5, END], ["cp", 1, 2, 6, 9]]],
        [["seq keep 1"], [["keep", 1]]],
        [["seq rm --seq 2", "seq rename 0 2"], [["rm", 2, 0, END], ["cp", 0, 2, 0, END], ["rm", 0, 0, END]]],
    ],
    "llama-nofa-multi-uni.ggsn": [
        [["seq rm --seq 0 --pos 12:15"], [["rm", 0, 12, 15]]],
        [["seq keep 0"], [["keep", 0]]],
    ],
    "llama-multi-streams.ggsn": [
        [["seq rm --seq 1 --pos 10:13"], [["rm", 1, 10, 13]]],
        [["seq rm --seq 2", "seq cp 0 2"], [["rm", 2, 0, END], ["cp", 0, 2, 0, END], ["settle", 2]]],
        [["seq rm --seq 2", "seq rename 1 2"], [["rm", 2, 0, END], ["cp", 1, 2, 0, END], ["settle", 2], ["rm", 1, 0, END]]],
        [["seq keep 1"], [["rm", 0, 0, END], ["rm", 2, 0, END]]],
    ],
    "gemma3-multi-uni.ggsn": [
        [["seq rm --seq 1"], [["rm", 1, 0, END]]],
        [["seq keep 0"], [["keep", 0]]],
        [["seq rm --seq 2 --pos 8:"], [["rm", 2, 8, END]]],
    ],
    "jamba-multi-streams.ggsn": [
        [["seq rm --seq 1"], [["rm", 1, 0, END]]],
    ],
    "mamba-multi.ggsn": [
        [["seq rm --seq 1"], [["rm", 1, 0, END]]],
        [["seq rm --seq 2", "seq cp 0 2"], [["rm", 2, 0, END], ["cp", 0, 2, 0, END]]],
    ],
    "qwen2vl-image.ggsn": [
        [["seq rm --pos 7:10"], [["rm", -1, 7, 10]]],
    ],
    "llama-simple.ggsn": [
        [["truncate 11"], [["rm", 0, 11, END]]],
        [["seq rm --pos 5:9"], [["rm", 0, 5, 9]]],
    ],
    "ds2mla.ggsn": [
        [["truncate 7"], [["rm", 0, 7, END]]],
    ],
};

for (const [name, edits] of Object.entries(LABEL_EDITS)) {
    for (const [commands, steps] of edits) {
        test(`${name}: ${commands.join(", ")}`, async () => {
            const one = caseOf(name);
            const ours = await edited(one.dump, commands);
            assert.ok(!fs.readFileSync(ours).equals(fs.readFileSync(one.dump)), "nothing changed");
            assertSameBytes(ours, await liveSession(one, steps, tokensOf(ours)));
        });
    }
}

test("one position less is noticed", async () => {
    const one = caseOf("llama-multi-uni.ggsn");
    const ours = await edited(one.dump, ["seq rm --seq 0 --pos 12:14"]);
    const theirs = await liveSession(one, [["rm", 0, 12, 15]], tokensOf(ours));
    assert.throws(() => assertSameBytes(ours, theirs));
});

test("where llama.cpp cannot cut a recurrent state, kvtool refuses", async () => {
    for (const name of ["mamba-multi.ggsn", "jamba-multi-streams.ggsn"]) {
        const one = caseOf(name);
        const [, done] = await live(one.model, one.context, [["session", one.dump], ["rm", 0, 3, END]]);
        assert.equal(done, false);
        const {status, stderr} = await runKvtool("seq", "rm", one.dump, "--seq", "0", "--pos", "3:", "-o", fresh("refused"));
        assert.equal(status, 2);
        assert.match(stderr, /a recurrent state stands for all \d+ positions together/);
    }
});

for (const name of ["llama-multi-uni.ggsn", "llama-multi-streams.ggsn", "jamba-multi-streams.ggsn", "mamba-multi.ggsn"]) {
    test(`${name}: extract is llama_state_seq_save_file`, async () => {
        const one = caseOf(name);
        for (const id of [0, 1]) {
            const ours = fresh("extracted"), theirs = fresh("live");
            await kvtool("extract", one.dump, "--seq", String(id), "-o", ours);
            await live(one.model, one.context, [["session", one.dump], ["save-sequence", theirs, id, tokensOf(ours)]]);
            assertSameBytes(ours, theirs);
        }
    });
}

test("merge is what llama.cpp saves after it loaded both files into one context", async () => {
    const one = caseOf("llama-multi-uni.ggsn"), parts = [0, 1].map(() => fresh("part"));
    for (const id of [0, 1]) await kvtool("extract", one.dump, "--seq", String(id), "-o", parts[id]);
    for (const [unified, options] of [[true, []], [false, ["--no-kv-unified"]]]) {
        const ours = fresh("merged"), theirs = fresh("live");
        await kvtool("merge", ...parts, "--renumber", "--arch", "llama", ...options, "-o", ours);
        const context = {...one.context, n_seq_max: 2, kv_unified: unified};
        const sources = unified ? parts : await Promise.all(parts.map(async (part, id) => {
            const file = fresh("streams");
            await kvtool("convert", part, "--parallel", "2", "--no-kv-unified", "--seq", String(id), "-o", file);
            return file;
        }));
        await live(one.model, context, [["sequence", sources[0], 0], ["sequence", sources[1], 1], ["save", theirs, tokensOf(ours)]]);
        assertSameBytes(ours, theirs);
    }
});
