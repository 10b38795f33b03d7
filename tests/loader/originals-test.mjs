#!/usr/bin/env node
// Is the loader itself to be trusted? The untouched dumps must come back as the program that wrote them saw them come
// back, and files that llama.cpp cannot take must show up as such. Needs no kvtool.
//
//   KVTOOL_LOADER_PACKAGES=DIR node originals-test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {CASES, caseOf} from "./cases.mjs";
import {assertContinued} from "./compare.mjs";
import {writeChanged} from "./kvtool.mjs";
import {loadAndContinue} from "./loader.mjs";

// The writer ran another build on another processor; its logits were seen to differ by up to 0.06.
const OTHER_BUILD_TOLERANCE = 0.1;

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-loader-"));
after(() => fs.rmSync(work, {recursive: true}));

const load = (one, dump = one.dump) => loadAndContinue({model: one.model, dump, context: one.context});

/** Loads a changed copy of a dump. */
function loadChanged(name, change) {
    const one = caseOf(name), changed = path.join(work, name);
    writeChanged(one.dump, changed, change);
    return load(one, changed);
}

function assertAsWritten(result, {header_tokens, reload}) {
    assertContinued(result);
    if (reload.tokens.length) assert.deepEqual(result.tokens, header_tokens);
    const lastPositions = result.positions.map(([, last]) => last);
    assert.deepEqual(lastPositions.slice(0, reload.pos_max.length), reload.pos_max);
    const [first] = result.next, off = reload.next.logits8.map((x, k) => Math.abs(x - first.logits[k]));
    assert.equal(first.position, reload.next.pos);
    assert.ok(Math.max(...off) <= OTHER_BUILD_TOLERANCE, `logits are off by ${Math.max(...off)}`);
}

test("untouched dumps", {concurrency: os.cpus().length}, async (t) => {
    const described = CASES.filter(({dump}) => fs.existsSync(dump + ".json"));
    const check = async (one) => assertAsWritten(await load(one), JSON.parse(fs.readFileSync(one.dump + ".json", "utf8")));
    await Promise.all(described.map((one) => t.test(one.name, () => check(one))));
});

test("another version is refused, with llama.cpp's reason", async () => {
    const result = await loadChanged("llama-simple.ggsn", (bytes) => void bytes.writeUInt32LE(9, 4));
    assert.equal(result.outcome, "refused");
    assert.match(result.log.join("\n"), /unknown \(magic, version\)/);
});

test("a sequence file cut in V ends llama.cpp's process, not ours", async () => {
    const result = await loadChanged("llama-simple.seq0.ggsq", (bytes) => bytes.subarray(0, bytes.length - 100));
    assert.equal(result.outcome, "died");
});

test("missing packages are a failure of the set-up", async () => {
    const {model, dump, context} = caseOf("llama-simple.ggsn");
    const result = await loadAndContinue({packages: work, model, dump, context});
    assert.equal(result.outcome, "failed");
});
