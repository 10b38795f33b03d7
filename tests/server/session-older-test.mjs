#!/usr/bin/env node
// Sessions of February 2025 to August 2026, converted to version 11: llama-completion of the current release, the program
// that still has them (--prompt-cache), loads each.
//
//   KVTOOL=.../kvtool node session-older-test.mjs DIR      DIR: where the release is, or is put by get-llama-server
//
// KVTOOL_CORPUS=FOLDER takes all sessions of that time below it instead of those in testdata/.
// Exit status 77 (skipped) when the release cannot be had.
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {test} from "node:test";
import {dumpsIn, modelPath, OLDER, rotates, sidecarOf} from "../loader/corpus.mjs";
import {runKvtool} from "../loader/kvtool.mjs";
import {program, work} from "./turns.mjs";

const TIME_LIMIT_MS = 60_000;

const SESSIONS = OLDER.flatMap((folder) => dumpsIn(folder, /\.ggsn$/).map((file) => ({folder, file, ...sidecarOf(file).params})));

const sequencesOf = (one) => Number(one["n-seq"] ?? 1);

/** The program's exit status with a session: 1 where it does not load. It runs as llama-server does, from the folder beside it. */
function statusWith(session, one) {
    const script = fs.readFileSync(program, "utf8").replace("usr/bin/llama-server", "usr/bin/llama-completion");
    const [k, v] = [one["type-k"] ?? "f16", one["type-v"] ?? "f16"];
    const options = ["-m", modelPath(one.model), "-c", 256, "-t", 1, "-no-cnv", "--offline", "-n", 0, "-p", "a", "-fa", "on", "-ctk", k, "-ctv", v,
        "-np", sequencesOf(one), "--prompt-cache", session, "--prompt-cache-ro"];
    return new Promise((resolve) => {
        execFile("bash", ["-c", script, program, ...options.map(String)], {timeout: TIME_LIMIT_MS},
            (error) => resolve(error ? error.code ?? error.signal : 0));
    });
}

let outputs = 0;

// A context of this program has a stream for each of its sequences.
async function convert({folder, file, model, ...params}, ...changes) {
    const output = path.join(work, `${outputs++}.ggsn`);
    const {status, stderr} = await runKvtool("convert", file, "-q", "-o", output, "--loader", "0.7.0", "--model", modelPath(model),
        "--flash-attn", "on", "--parallel", String(sequencesOf(params)), "--no-kv-unified", "--rotation", rotates(folder) ? "hadamard" : "none", "--drop", "outputs", ...changes);
    assert.equal(status, 0, stderr);
    return output;
}

test("older sessions load in today's llama-completion", {concurrency: os.cpus().length}, async (t) => {
    let loaded = 0;
    await Promise.all(SESSIONS.map((one) => t.test(`${one.folder}/${path.basename(one.file)}`, async () => {
        assert.equal(await statusWith(await convert(one), one), 0);
        loaded++;
    })));
    t.diagnostic(`${loaded} of ${SESSIONS.length} load`);
    assert.ok(SESSIONS.length >= 5);
});

test("without a conversion, or with another type, it is refused", async () => {
    const one = SESSIONS.find(({file}) => file.includes("llama-nofa-f16")), copy = path.join(work, "as-it-is.ggsn");
    fs.copyFileSync(one.file, copy);
    assert.equal(await statusWith(copy, one), 1);
    assert.equal(await statusWith(await convert(one, "--cache-type-k", "f32"), one), 1);
});
