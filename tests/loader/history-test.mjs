#!/usr/bin/env node
// Dumps of April 2023 to February 2025, converted by kvtool, in real llama.cpp v0.4.0: what it restores is saved again and
// compared, id by id and row by row, with what the program of the time had in memory; then it goes on. The models of
// these files are lost, so models of the same shapes stand for them (stand-in.mjs); what comes next is compared between
// files of different ages that hold the same conversation.
//
//   KVTOOL=.../kvtool KVTOOL_LOADER_PACKAGES=DIR node history-test.mjs
//
// KVTOOL_CORPUS=FOLDER takes all files of history/ below it instead of testdata/history.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, test} from "node:test";
import zlib from "node:zlib";
import {assertContinued, logitsMoved, TOLERANCE} from "./compare.mjs";
import {TESTDATA} from "./corpus.mjs";
import {runKvtool, writeChanged} from "./kvtool.mjs";
import {live} from "./live.mjs";
import {CACHE_TYPES} from "./llama.mjs";
import {loadAndContinue} from "./loader.mjs";
import {readDump} from "./session-reader.mjs";
import {hasStandIn, writeStandIn} from "./stand-in.mjs";

const HISTORY = process.env.KVTOOL_CORPUS ? path.join(process.env.KVTOOL_CORPUS, "history") : path.join(TESTDATA, "history");
const LEAST_FILES = 40, LEAST_GROUPS = 5;
// The day from which cells without K and V are no longer listed.
const NO_CELLS_WITHOUT_DATA = "2024-03-03";

const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-history-"));
after(() => fs.rmSync(work, {recursive: true}));
const together = {concurrency: os.cpus().length};

// --- the files

/** A file that kvtool can read: the corpus has some packed with gzip. */
function unpacked(name) {
    const file = path.join(HISTORY, name);
    if (!name.endsWith(".gz")) return file;
    const output = path.join(work, path.basename(name, ".gz"));
    if (!fs.existsSync(output)) fs.writeFileSync(output, zlib.gunzipSync(fs.readFileSync(file)));
    return output;
}

function described(name) {
    const stem = name.replace(/\.ggs[nq](\.gz|\.zst)?$/, "");
    return {name: stem, file: unpacked(name), sidecar: JSON.parse(fs.readFileSync(path.join(HISTORY, `${stem}.json`), "utf8"))};
}

const files = fs.readdirSync(HISTORY).filter((name) => /\.ggs[nq](\.gz|\.zst)?$/.test(name)).sort()
    .map(described).filter(({sidecar}) => hasStandIn(sidecar.model));

const models = new Map();
function modelOf({sidecar}) {
    const {model} = sidecar, output = path.join(work, model);
    if (!models.has(model)) writeStandIn(output, model);
    models.set(model, output);
    return output;
}

const contextOf = ({sidecar}) => ({
    n_ctx: 128, n_batch: 64, n_ubatch: 64, n_seq_max: 4, kv_unified: true,
    type_k: CACHE_TYPES[sidecar.type_k], type_v: CACHE_TYPES[sidecar.type_v], flash_attn_type: sidecar.flash_attn ? 1 : 0,
});

let outputs = 0;

async function convert(one) {
    const output = path.join(work, `${outputs++}.${path.extname(one.file) === ".ggsq" ? "ggsq" : "ggsn"}`);
    const {status, stderr} = await runKvtool("convert", one.file, "-q", "-o", output, "--loader", "v0.4.0",
        "--model", modelOf(one), "--drop", "outputs,cells");
    assert.equal(status, 0, stderr);
    return output;
}

// --- what comes back

function makeCrcTable() {
    return Uint32Array.from({length: 256}, (_, n) => {
        for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
        return n;
    });
}
const CRC_TABLE = makeCrcTable();
const crc32 = (bytes) => ~bytes.reduce((crc, byte) => CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8), -1) >>> 0;

const isSlot = ({sidecar}) => sidecar.format === "ggsq";

/** The converted file, loaded by llama.cpp and saved by it. */
async function savedAgain(one, converted) {
    const output = path.join(work, `${outputs++}.again`), {tokens} = readDump(converted, one.sidecar.recurrent);
    const steps = isSlot(one) ? [["sequence", converted, 0], ["save-sequence", output, 0, tokens]]
                              : [["session", converted], ["save", output, tokens]];
    const [loaded] = await live(modelOf(one), contextOf(one), steps);
    assert.ok(loaded, "refused by llama.cpp");
    const saved = readDump(output, one.sidecar.recurrent);
    // recurrent states of one sequence do not name it
    return isSlot(one) ? {...saved, cells: saved.cells.map((cell) => ({...cell, seqs: [0]}))} : saved;
}

// Builds until March 2024 wrote no K and V for cells from the head on, but listed them.
function hasData({sidecar: {version, format, date, kv_head}}, {index}) {
    const lost = format === "ggsn" && version >= 2 && version <= 4 && date < NO_CELLS_WITHOUT_DATA;
    return !lost || index < kv_head;
}

// Slot files are loaded into sequence 0, whichever it was, and the first builds knew no other.
const FIRST_WITH_SEQUENCES = 2;

function expectedCells(one) {
    const isOne = isSlot(one) || one.sidecar.version < FIRST_WITH_SEQUENCES;
    const cells = one.sidecar.cells.map((cell) => isOne ? {...cell, seqs: [0]} : cell);
    return cells.filter((cell) => cell.pos >= 0 && cell.seqs.length > 0 && hasData(one, cell));
}

const labelOf = ({pos, seqs}) => `position ${pos} of ${seqs.join(" and ")}`;
const byLabel = (cells) => [...cells].sort((a, b) => labelOf(a) < labelOf(b) ? -1 : 1);

function rowsOf(cell) {
    return {cell: labelOf(cell), k: cell.k.map(crc32), v: cell.v.map(crc32)};
}

/** Throws unless llama.cpp restored these ids and these cells with these bytes. Gives the number of rows. */
function assertRestored(one, saved) {
    assert.deepEqual(saved.tokens, one.sidecar.tokens ?? []);
    const expected = byLabel(expectedCells(one))
        .map((cell) => ({cell: labelOf(cell), k: cell.k_crc32, v: cell.v_crc32}));
    assert.deepEqual(byLabel(saved.cells).map(rowsOf), expected);
    return expected.reduce((all, {k, v}) => all + k.length + v.length, 0);
}

/** What comes after token 77, as in the process that saved. */
async function goOn(one, converted) {
    const result = await loadAndContinue(
        {model: modelOf(one), dump: converted, context: contextOf(one), token: 77, cuts: false});
    assertContinued(result);
    return result;
}

async function checkOne(t, one, counts) {
    const converted = await convert(one), rows = assertRestored(one, await savedAgain(one, converted));
    counts.files++;
    counts.rows += rows;
    if (rows === 0) return t.diagnostic("no cell of this file has data");
    counts.results.push({one, result: await goOn(one, converted)});
}

// --- how it goes on

// The part of a name that says what was saved: "v6-20240719-be0cfb417-fa-frag" is fa-frag. Outputs are of no account.
const variantOf = (name) => name.split("-").slice(3).join("-").replace(/^(emb|outs|alllogits|batchlogits)-/, "");

// Until July 2024 a copied recurrent state was saved as it was before, because the copy waited for the next decode.
const isPendingCopy = ({name, sidecar}) => /mamba-multi/.test(name) && sidecar.date < "2024-08";

// Files that hold the same: of the same model and variant, and with as many cells that have data (builds of 2023 and
// early 2024 lost some).
function contentOf(one) {
    const model = one.sidecar.model.replace("-v1", ""), cells = expectedCells(one).length;
    return `${variantOf(one.name)} of ${model}, cells: ${cells}${isPendingCopy(one) ? ", copy pending" : ""}`;
}

function groupsOf(results) {
    const groups = new Map();
    for (const entry of results) groups.set(contentOf(entry.one), [...groups.get(contentOf(entry.one)) ?? [], entry]);
    return [...groups].filter(([, group]) => group.length > 1);
}

/** Throws unless all of a group go on like the youngest. Gives how far one is off. */
function assertAlike([content, group]) {
    const youngest = group.at(-1).result, moved = group.map(({result}) => logitsMoved(youngest, result));
    group.forEach(({one}, i) => assert.ok(moved[i] <= TOLERANCE, `${one.name} (${content}) moved by ${moved[i]}`));
    return Math.max(...moved);
}

test("llama.cpp restores what the programs of the time had in memory, and goes on alike", together, async (t) => {
    const counts = {files: 0, rows: 0, results: []};
    await Promise.all(files.map((one) => t.test(one.name, (t) => checkOne(t, one, counts))));
    t.diagnostic(`${counts.files} of ${files.length} files restored, with ${counts.rows} rows of K and V`);
    assert.equal(counts.files, files.length);
    assert.ok(files.length >= LEAST_FILES, `only ${files.length} files`);
    counts.results.sort((a, b) => a.one.sidecar.date < b.one.sidecar.date ? -1 : 1);
    const groups = groupsOf(counts.results), moved = groups.map(assertAlike);
    groups.forEach(([content, group], i) => t.diagnostic(`${group.length} files, ${content}: moved ${moved[i].toFixed(4)} at most`));
    assert.ok(groups.length >= LEAST_GROUPS, `only ${groups.length} groups`);
});

// --- the falsifiers

const sample = () => files.find(({name}) => name.startsWith("v7-") && name.endsWith("-e54c35e4f-plain"));

// A value of K, far from the labels: in this file the rows are the last thing but the cells.
function damage(bytes) {
    bytes[bytes.length - 2000] ^= 0x10;
}

test("one changed bit of a row shows", async () => {
    const one = sample(), file = path.join(work, "changed.ggsn");
    writeChanged(one.file, file, damage);
    const saved = await savedAgain(one, await convert({...one, file}));
    assert.throws(() => assertRestored(one, saved), {code: "ERR_ASSERTION"});
});

/** A copy of a converted session in which each K stands where the V of its layer was, cell by cell. */
function exchanged(file) {
    const {cells} = readDump(file, false), bytes = fs.readFileSync(file), output = file + ".exchanged";
    for (const {k, v} of cells) for (const l of k.keys()) bytes.set(v[l], bytes.indexOf(k[l]));
    fs.writeFileSync(output, bytes);
    return output;
}

test("rows that are others' go on otherwise", async () => {
    const one = sample(), converted = await convert(one);
    const moved = logitsMoved(await goOn(one, converted), await goOn(one, exchanged(converted)));
    assert.ok(moved > 10 * TOLERANCE, `moved by ${moved} only`);
});
