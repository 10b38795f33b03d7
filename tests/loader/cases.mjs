// The dumps that are rewritten and loaded, and what is done to each.
import fs from "node:fs";
import path from "node:path";
import {fileURLToPath} from "node:url";
import {contextOfSidecar} from "./loader.mjs";

const TESTDATA = fileURLToPath(new URL("../../testdata/", import.meta.url));

// Of a cache with n cells, across its middle: the loader tells right labels from wrong ones by cutting there.
const spanning = (n, where = "") => [`swap 1 ${n - 2}${where}`, `move 1 ${n - 4} 3${where}`];
const cache = (n) => [...spanning(n), "defrag"];
const inMemory = (memory, n) => spanning(n, ` --memory ${memory}`);
const inStream = (stream, n) => spanning(n, ` --stream ${stream}`);

const EDITS = {
    // V in rows, in every container
    "llama-simple.ggsn": cache(24),
    "llama-simple.seq0.ggsq": cache(24),
    "llama-simple.raw": cache(24),
    "llama-simple.rawseq0.raw": cache(24),
    "llama-slot.slot0.ggsq": cache(24),
    // V transposed
    "llama-nofa-f16.ggsn": cache(16),
    "llama-nofa-multi-uni.ggsn": cache(32),
    // quantised, plain and rotated
    "llama-fa-q8_0.ggsn": cache(16),
    "llamah64-fa-q8_0.seq0.ggsq": cache(16),
    // several sequences in one stream, and a stream each
    "llama-multi-uni.ggsn": cache(32),
    "llama-multi-streams.ggsn": [...cache(16), ...inStream(1, 19), ...inStream(2, 11)],
    "llama-multi-streams.seq1.ggsq": [...inStream(1, 19), "defrag"],
    // a full and a window cache
    "gemma3-swa.ggsn": [...cache(40), ...inMemory(1, 40)],
    "gemma3-swa.seq0.ggsq": [...cache(40), ...inMemory(1, 12)],
    "gemma3-nofa.ggsn": [...cache(20), ...inMemory(1, 20)],
    "gemma3-multi-uni.ggsn": [...cache(32), ...inMemory(1, 32)],
    // recurrent, and attention beside it
    "mamba-multi.ggsn": ["swap 0 2", "move 0 1 2", "defrag"],
    "jamba.ggsn": cache(16),
    "jamba-multi-streams.ggsn": [...cache(12), ...inStream(1, 18), "swap 0 1 --memory 1"],
    "lfm2.ggsn": cache(16),
    "lfm2swa.ggsn": [...cache(40), ...inMemory(1, 40)],
    // cells with x, y and token; an image from cell 7 to 12
    "qwen2vl-image.ggsn": [...cache(27), "swap 8 12"],
    "qwen2vl-image.seq0.ggsq": [...cache(22), "swap 8 12"],
    // K without V, K and V of different width
    "ds2mla.ggsn": cache(16),
    "ds2mha-nofa.ggsn": cache(8),
    // An index cache chooses cells of the other cache by their place, so an edit has to rearrange both in step, without
    // being told: one alone gives logits that are off by three times their spread.
    "dsa-deepseek32.ggsn": cache(12),
    "msa-minimax-m3.ggsn": [...cache(12), "swap 0 7"],
};

function writtenByLlamaCpp([name, edits]) {
    const dump = path.join(TESTDATA, "modern/b11118", name);
    const {params} = JSON.parse(fs.readFileSync(dump + ".json", "utf8"));
    return {name, edits, dump, model: path.join(TESTDATA, "models", params.model), context: contextOfSidecar(dump + ".json")};
}

// Version 3 has two layouts for this architecture; the loader here reads the older one, so this file is a client's of that
// day. It has an index cache too; left behind, it puts logits off by 0.3 and more. Its one head scores many cells with exactly
// zero, and which of them fill up the best eight is decided by their places, even with all caches in step: here among the first
// eleven, so only the others are moved. rewrite-test moves those too, with an index that leaves none out.
const WRITTEN_BY_A_CLIENT = {
    name: "node-llama-cpp-3.21.1.qwen4exp.ggsq",
    edits: ["swap 12 18", "move 12 17 3", "defrag"],
    dump: path.join(TESTDATA, "modern/clients/node-llama-cpp-3.21.1.qwen4exp.ggsq"),
    model: path.join(TESTDATA, "models/qwen4exp.gguf"),
    context: {n_ctx: 128, n_batch: 64, n_ubatch: 64, n_seq_max: 1, flash_attn_type: 1, swa_full: false},
};

export const CASES = [...Object.entries(EDITS).map(writtenByLlamaCpp), WRITTEN_BY_A_CLIENT];

export function caseOf(name) {
    return CASES.find((one) => one.name === name);
}
