#!/usr/bin/env node
// continue.mjs MODEL DUMP [options]: what real llama.cpp v0.4.0 makes of a dump, as one JSON object on stdout:
// restored token ids, lowest and highest position of each sequence, the logits after one more token, the loader's log.
//
//   --packages DIR      folder with node_modules (default: the environment's KVTOOL_LOADER_PACKAGES, else here)
//   --sidecar FILE      context parameters as the dump's writer had them (default: DUMP.json if there is one)
//   --set FIELD=NUMBER  one field of llama_context_params; may be repeated, wins over the sidecar
//   --sequence N        the sequence that a sequence file is loaded into (default 0)
//   --token N           the token that every sequence goes on with (default 100)
//
// Exit status: 0 loaded and continued, 1 refused by llama.cpp, 2 usage or set-up, 3 llama.cpp ended its process.
import fs from "node:fs";
import {parseArgs} from "node:util";
import {contextOfSidecar, loadAndContinue} from "./loader.mjs";

const EXIT_STATUS = {continued: 0, refused: 1, failed: 2, died: 3};
const OPTIONS = {
    packages: {type: "string"}, sidecar: {type: "string"}, set: {type: "string", multiple: true, default: []},
    sequence: {type: "string", default: "0"}, token: {type: "string", default: "100"},
};

function commandLine() {
    const {values, positionals} = parseArgs({options: OPTIONS, allowPositionals: true});
    if (positionals.length !== 2) throw new Error("usage: continue.mjs MODEL DUMP [options]");
    return {...values, model: positionals[0], dump: positionals[1]};
}

function contextParams({dump, sidecar, set}) {
    const file = sidecar ?? dump + ".json";
    const written = sidecar || fs.existsSync(file) ? contextOfSidecar(file) : {n_seq_max: 1, flash_attn_type: 1};
    const overrides = set.map((assignment) => assignment.split("=")).map(([field, value]) => [field, Number(value)]);
    return {...written, ...Object.fromEntries(overrides)};
}

async function main() {
    const line = commandLine();
    const request = {
        model: line.model, dump: line.dump, context: contextParams(line),
        sequence: Number(line.sequence), token: Number(line.token), ...(line.packages && {packages: line.packages}),
    };
    const result = await loadAndContinue(request);
    console.log(JSON.stringify(result));
    return EXIT_STATUS[result.outcome];
}

process.exitCode = await main().catch((error) => {
    console.error(`continue.mjs: ${error.message}`);
    return 2;
});
