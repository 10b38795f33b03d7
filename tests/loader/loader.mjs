// Loads one dump into real llama.cpp in a process of its own and lets every sequence in it go on by one token,
// first from its end, then, where the memory can be cut, once more from its middle.
//
//   request   {packages, model, dump, context, sequence, token, cuts}
//             context: fields of llama_context_params; sequence: where a sequence file goes; token: what comes next;
//             cuts: false leaves the middle alone, as it must where there are holes
//   result    {outcome: "continued", tokens, positions: [[min, max], ...], next: [{sequence, position, logits}, ...], log}
//             {outcome: "refused", log}              llama.cpp would not have the file
//             {outcome: "failed", message, log}      no packages, other ABI, no model, no context, no decode
//             {outcome: "died", message}             the process ended itself, or did not end at all
import fs from "node:fs";
import {fileURLToPath} from "node:url";
import {runChild} from "./child.mjs";
import {CACHE_TYPES} from "./llama.mjs";

const CHILD = fileURLToPath(new URL("loader-child.mjs", import.meta.url));
const TIME_LIMIT_MS = 60_000;

const REQUEST_DEFAULTS = {packages: process.env.KVTOOL_LOADER_PACKAGES ?? ".", sequence: 0, token: 100, cuts: true};

// What the program that wrote the dumps used where a sidecar does not say otherwise.
const WRITER_DEFAULTS = {
    "n-ctx": 128, "n-batch": 64, "n-ubatch": 64, "n-seq": 1, "type-k": "f16", "type-v": "f16",
    fa: 1, "swa-full": 0, unified: 0, embeddings: 0,
};

/** The context that a dump's sidecar asks for. */
export function contextOfSidecar(file) {
    const p = {...WRITER_DEFAULTS, ...JSON.parse(fs.readFileSync(file, "utf8")).params};
    return {
        n_ctx: Number(p["n-ctx"]), n_batch: Number(p["n-batch"]), n_ubatch: Number(p["n-ubatch"]), n_seq_max: Number(p["n-seq"]),
        type_k: CACHE_TYPES[p["type-k"]], type_v: CACHE_TYPES[p["type-v"]], flash_attn_type: Number(p.fa),
        swa_full: p["swa-full"] == 1, kv_unified: p.unified == 1, embeddings: p.embeddings == 1,
    };
}

export async function loadAndContinue(request) {
    const {result, end, lastWords} = await runChild(CHILD, {...REQUEST_DEFAULTS, ...request}, TIME_LIMIT_MS);
    return result ?? {outcome: "died", message: `${end}: ${lastWords.split("\n")[0]}`};
}
