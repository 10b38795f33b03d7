// One conversation with a llama-server of its own: a first prompt, the slot saved; the slot restored, a second prompt.
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after} from "node:test";
import {fileURLToPath} from "node:url";
import {LlamaServer} from "./llama-server.mjs";

const SKIPPED = 77;
const MODELS = fileURLToPath(new URL("../../testdata/models/", import.meta.url));
const GET_SERVER = fileURLToPath(new URL("get-llama-server", import.meta.url));

// The second prompt begins with the first, but not with what the model answered: the server has to go back in its cache,
// to the end of the first prompt, or to the nearest checkpoint where the memory cannot be cut.
const FIRST_PROMPT = "the cat sat on the mat";
const SECOND_PROMPT = FIRST_PROMPT + " and looked at the moon";

// The models are random; a grammar keeps what they say printable.
export const COMPLETION = {
    n_predict: 6, cache_prompt: true, temperature: 0, seed: 1, n_probs: 5, return_tokens: true, grammar: "root ::= [a-z ]{1,99}",
};

function serverProgram(folder) {
    const {status, stdout, stderr} = spawnSync(GET_SERVER, [folder], {encoding: "utf8"});
    if (status === SKIPPED) console.log(`skipped: ${stdout.trim()}`);
    else if (status !== 0) console.error(stderr.trim());
    if (status !== 0) process.exit(status ?? 1);
    return path.join(folder, "llama-server");
}

function programOfCommandLine() {
    if (process.argv.length === 3) return serverProgram(process.argv[2]);
    console.error(`usage: ${path.basename(process.argv[1])} DIR`);
    process.exit(2);
}

export const program = programOfCommandLine();

/** Where slot files lie; it goes when the tests are through. */
export const work = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-server-"));
after(() => fs.rmSync(work, {recursive: true}));

/** Runs `talk` with a server of its own, started for this case: {model, args, slot}. */
export async function withServer({model, args = []}, talk) {
    const server = await LlamaServer.start(program, work, ["-m", path.join(MODELS, model), "-np", 1, ...args]);
    try {
        return await talk(server);
    } finally {
        await server.stop();
    }
}

export const complete = (server, {slot = 0}, prompt) => server.post("/completion", {...COMPLETION, prompt, id_slot: slot});

export const onSlot = (server, {slot = 0}, action, filename) => server.post(`/slots/${slot}?action=${action}`, {filename});

/** One turn in a new server, saved under that name in the work folder; gives the number of tokens. */
export function saveOneTurn(one, filename) {
    return withServer(one, async (server) => {
        await complete(server, one, FIRST_PROMPT);
        return (await onSlot(server, one, "save", filename)).n_saved;
    });
}

const gist = ({content, tokens, timings, completion_probabilities}) =>
    ({text: content, tokens, fromCache: timings.cache_n, probabilities: completion_probabilities});

/** What a new server makes of a prompt after it has restored a file. */
export function restoreAndContinue(one, filename, prompt = SECOND_PROMPT) {
    return withServer(one, async (server) => {
        const {n_restored} = await onSlot(server, one, "restore", filename);
        return {restored: n_restored, ...gist(await complete(server, one, prompt))};
    });
}

/** What a new server makes of a prompt that it has to read from the start. */
export function readFromTheStart(one, prompt = SECOND_PROMPT) {
    return withServer(one, async (server) => gist(await complete(server, one, prompt)));
}

// Near the end of a list of the most probable tokens a tie may let another one in, so only shared ids are compared; lists
// that share none are as far apart as can be.
function difference({top_logprobs}, other) {
    const others = new Map(other.top_logprobs.map(({id, logprob}) => [id, logprob]));
    const shared = top_logprobs.filter(({id}) => others.has(id));
    if (shared.length === 0) return Infinity;
    return Math.max(...shared.map(({id, logprob}) => Math.abs(logprob - others.get(id))));
}

/** How far log-probabilities are apart at the most, in all tokens of two answers. */
export function logProbabilityDifference(one, other) {
    return Math.max(...one.probabilities.map((token, i) => difference(token, other.probabilities[i])));
}

/** The same of the first token alone, which no earlier choice can have led astray. */
export function firstTokenDifference(one, other) {
    return difference(one.probabilities[0], other.probabilities[0]);
}
