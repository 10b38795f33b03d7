#!/usr/bin/env node
// What kvtool prefix --extract writes is what llama.cpp has left after it cut the original at the same place itself: the
// loader of these tests goes on from the middle of every sequence, so that is where the extracted files end.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node prefix-test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import {caseOf} from "./cases.mjs";
import {TOLERANCE, assertContinued, logitsMoved} from "./compare.mjs";
import {runKvtool, writeChanged} from "./kvtool.mjs";
import {loadAndContinue} from "./loader.mjs";

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-prefix-"));
after(() => fs.rmSync(work, {recursive: true}));

const load = (one, dump) => loadAndContinue({model: one.model, dump, context: one.context});

// The plain token list of a session or a sequence file begins behind magic, version and count.
const HEADER_BYTES = 12;

/** A copy whose token `index` is another one: the same conversation as far as that, and the same K and V. */
function otherFrom(one, index) {
    const other = path.join(work, "other." + one.name);
    writeChanged(one.dump, other, (bytes) => void bytes.writeInt32LE(7, HEADER_BYTES + 4 * index));
    return other;
}

async function extract(output, ...files) {
    const {status, stderr} = await runKvtool("prefix", "--extract", ...files, "-o", output);
    return {status, stderr};
}

for (const name of ["llama-simple.seq0.ggsq", "llama-simple.ggsn", "llama-nofa-f16.ggsn", "ds2mla.ggsn", "llama-fa-q8_0.ggsn"]) {
    test(`the beginning of ${name}`, async (t) => {
        const one = caseOf(name), original = await load(one, one.dump);
        assertContinued(original);
        const [, middle] = original.next;
        const output = path.join(work, "common." + name);
        const {status, stderr} = await extract(output, one.dump, otherFrom(one, middle.position));
        assert.equal(status, 0, stderr);
        const common = await load(one, output);
        assertContinued(common);
        assert.deepEqual(common.tokens, original.tokens.slice(0, middle.position));
        assert.equal(common.next[0].position, middle.position);
        const moved = logitsMoved({next: [middle]}, {next: [common.next[0]]});
        assert.ok(moved <= TOLERANCE, `logits moved by ${moved} of their spread`);
        t.diagnostic(`${middle.position} of ${original.tokens.length} tokens, logits moved by ${moved.toFixed(5)}`);
        // one token less is not the same: the comparison notices
        const shorter = path.join(work, "shorter." + name);
        assert.equal((await extract(shorter, one.dump, otherFrom(one, middle.position - 1))).status, 0);
        const wrong = logitsMoved({next: [middle]}, {next: [(await load(one, shorter)).next[0]]});
        assert.ok(wrong > TOLERANCE, `a cut one token earlier moves logits by ${wrong} only`);
    });
}

test("other K and V are refused, unless said whose to take", async () => {
    const one = caseOf("llama-simple.seq0.ggsq"), other = otherFrom(one, 12);
    const output = path.join(work, "refused");
    // V of the last layer is 24 rows of 128 bytes and the end of the file: this is in its first row
    writeChanged(other, other, (bytes) => bytes.fill(0x3c, bytes.length - 3000, bytes.length - 2900));
    const refused = await extract(output, one.dump, other);
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /V of layer \d+ .* differs/);
    assert.ok(!fs.existsSync(output));
    assert.equal((await extract(output, "--from", one.dump, one.dump, other)).status, 0);
});
