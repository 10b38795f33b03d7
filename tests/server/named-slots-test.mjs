#!/usr/bin/env node
// examples/named-slots against the current llama-server: two slots, three users in turn whose chats grow. Without a store
// the server computes a whole chat again whenever somebody else had the slot; with it, only what is new. And what would
// empty a slot or end the server never reaches it.
//
//   KVTOOL=.../kvtool node named-slots-test.mjs DIR      DIR: where the server is, or is put by get-llama-server
//
// Exit status 77 (skipped) when the server cannot be had.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {rangesOf, runKvtool, writeChanged} from "../loader/kvtool.mjs";
import {COMPLETION, onSlot, withServer, work} from "./turns.mjs";

const SCRIPT = fileURLToPath(new URL("../../examples/named-slots", import.meta.url));
const MODELS = fileURLToPath(new URL("../../testdata/models/", import.meta.url));

// The server keeps chats that lost their slot in memory of its own unless --cache-ram forbids it: as long as that lasts.
const CACHE_ARGS = ["-c", "8192", "-np", "2", "--no-kv-unified"];
const SERVER_ARGS = [...CACHE_ARGS, "--cache-ram", "0"];
const LLAMA = {model: "llama.gguf", args: SERVER_ARGS}, GEMMA3 = {model: "gemma3.gguf", args: SERVER_ARGS};

// The models know some English words, and letters. An answer of letters that begin no word is read again as it was said.
const REQUEST = {...COMPLETION, grammar: "root ::= [jkqxz]{1,99}"};
const complete = (server, slot, prompt, more) => server.post("/completion", {...REQUEST, prompt, id_slot: slot, ...more});

const ROUNDS = 4;
// Names that a shell, kvtool's options and a file system would each like to take for something else.
const USERS = [
    {name: "Zoë Ω", opening: "tell me about the moon and the stars over the sea"},
    {name: "-rf '$(touch pwned)' \"*\"", opening: "a cat sat on a mat and looked at the sun for a day"},
    {name: "[a,b] \\n", opening: "my red hat is old but the blue one is lost in the sand"},
];

const modelFile = ({model}) => path.join(MODELS, model);
const inWork = (name) => path.join(work, name);

const home = fs.mkdtempSync(path.join(os.tmpdir(), "kvtool-named-slots-"));
const temporary = path.join(home, "tmp");
after(() => fs.rmSync(home, {recursive: true}));
before(async () => {
    fs.mkdirSync(temporary);
    process.env.KVTOOL_STORE = path.join(home, "store");
    await kvtool("store", "init");
});

async function kvtool(...args) {
    const {status, stdout, stderr} = await runKvtool(...args);
    assert.equal(status, 0, stderr);
    return stdout;
}
const kvtoolJson = async (...args) => JSON.parse(await kvtool(...args, "--json"));
const putFile = (name, file, model) => kvtool("store", "put", "-q", name, inWork(file), "--model", modelFile(model));

// --- the script

function startScript(server, one, ...args) {
    const env = {
        ...process.env, TMPDIR: temporary, LLAMA_URL: `http://127.0.0.1:${server.port}`, LLAMA_SLOTS: work,
        LLAMA_MODEL: modelFile(one), LLAMA_ARGS: CACHE_ARGS.join(" "),
    };
    return spawn(SCRIPT, args, {env, cwd: home, detached: true, stdio: ["pipe", "pipe", "pipe"]});
}

async function runScript(server, one, args, input = "") {
    const script = startScript(server, one, ...args), out = {stdout: "", stderr: ""};
    for (const stream of ["stdout", "stderr"]) script[stream].setEncoding("utf8").on("data", (text) => out[stream] += text);
    script.stdin.on("error", () => {}).end(input);
    const [status] = await once(script, "close");
    return {status, ...out};
}

async function script(server, one, ...args) {
    const {status, stdout, stderr} = await runScript(server, one, args);
    assert.equal(status, 0, stderr);
    return stdout;
}

async function scriptOnPrompt(server, one, prompt, ...args) {
    const {status, stdout, stderr} = await runScript(server, one, args, JSON.stringify({...REQUEST, prompt}));
    assert.deepEqual({status, stderr}, {status: 0, stderr: ""});
    return stdout;
}

async function bestFor(server, one, prompt) {
    const lines = (await scriptOnPrompt(server, one, prompt, "best")).trim().split("\n");
    const [name, reused, recomputed] = lines[0].split("\t");
    return {name, reused: Number(reused), recomputed: Number(recomputed)};
}

/** Neither slot files nor scratch folders of the script; its locks are empty and stay. */
function assertNothingStays() {
    assert.deepEqual(fs.readdirSync(work).filter((name) => name.startsWith("named-slots.")), []);
    assert.deepEqual(fs.readdirSync(temporary), []);
    assert.ok(!fs.existsSync(path.join(home, "pwned")), "a name was run as a command");
}

// --- turns

const throughServer = (server) => (_, prompt) => complete(server, -1, prompt);
const throughScript = (server, one) =>
    async ({name}, prompt) => JSON.parse(await scriptOnPrompt(server, one, prompt, "chat", name));

/** One more turn of a chat: {user, text, stored}, of which it changes the last two. `stored` tokens are then in the slot. */
async function turn(chat, answer) {
    const before = chat.stored, said = await answer(chat.user, chat.text);
    const {content, tokens_evaluated, tokens_predicted, timings} = said;
    chat.text += content + " and then the " + chat.user.opening.slice(0, 20);
    chat.stored = tokens_evaluated + tokens_predicted - 1; // what was said last is not computed yet
    return {before, prompt: tokens_evaluated, cached: timings.cache_n, computed: timings.prompt_n};
}

const newChats = () => USERS.map((user) => ({user, text: user.opening, stored: 0}));

async function inTurn(chats, rounds, answer) {
    const turns = [];
    for (let round = 0; round < rounds; round++)
        for (const chat of chats) turns.push(await turn(chat, answer));
    return turns;
}

/** How many tokens any two users' first words have in common. */
async function tokensInCommon(server) {
    const tokenize = ({opening}) => server.post("/tokenize", {content: opening, add_special: true});
    const lists = await Promise.all(USERS.map(tokenize));
    const shared = (a, b) => { const i = a.findIndex((id, at) => id !== b[at]); return i < 0 ? a.length : i; };
    return Math.max(...lists.flatMap(({tokens}, i) => lists.slice(i + 1).map((other) => shared(tokens, other.tokens))));
}

const sumComputed = (turns) => turns.reduce((sum, {computed}) => sum + computed, 0);

function assertOnlyNewTokens(turns) {
    for (const {before, prompt, cached, computed} of turns)
        if (before > 0) assert.deepEqual({cached, computed}, {cached: before, computed: prompt - before});
}

/** The server alone: all that a turn may find in a slot is what any two users begin with. */
async function computedWithoutStore(server, common) {
    const turns = await inTurn(newChats(), ROUNDS, throughServer(server));
    for (const {prompt, cached, computed} of turns) {
        assert.ok(cached <= common, `${cached} tokens of another user's chat?`);
        assert.equal(computed, prompt - cached);
    }
    return sumComputed(turns);
}

// What makes the other assertions worth something: a slot that holds another chat is of no use.
async function checkWrongUser(server, one, [chat, other], common) {
    for (const [{user, stored}, least, most] of [[other, 0, common], [chat, chat.stored, chat.stored]]) {
        const slot = Number(await script(server, one, "restore", user.name));
        const {cache_n} = (await complete(server, slot, chat.text)).timings;
        assert.ok(stored > common && cache_n >= least && cache_n <= most, `${cache_n} of ${chat.stored} tokens`);
    }
}

/** A chat whose last words were changed: the server goes back as far as kvtool said, in a window to a checkpoint. */
async function checkOtherWay(t, server, one, {user, text, stored}) {
    const prompt = text.slice(0, -60) + ", no: the sun", best = await bestFor(server, one, prompt);
    const {timings} = JSON.parse(await scriptOnPrompt(server, one, prompt, "chat", user.name));
    t.diagnostic(`another way: ${timings.cache_n} of ${stored} tokens from the cache`);
    assert.deepEqual(best, {name: user.name, reused: timings.cache_n, recomputed: timings.prompt_n});
    assert.ok(timings.cache_n > stored / 2 && timings.cache_n < stored);
}

async function computedWithStore(server, one, chats) {
    const turns = await inTurn(chats, ROUNDS, throughScript(server, one));
    assertOnlyNewTokens(turns);
    return sumComputed(turns);
}

const atOnce = (server, one, chats) => Promise.all(chats.map((chat) => turn(chat, throughScript(server, one))));

async function checkUsersInTurn(t, one) {
    const chats = newChats();
    let common;
    const without = await withServer(one, async (server) => {
        common = await tokensInCommon(server);
        return computedWithoutStore(server, common);
    });
    await withServer(one, async (server) => {
        const withStore = await computedWithStore(server, one, chats);
        t.diagnostic(`${ROUNDS} turns of each user: ${without} tokens of prompts computed without the store, ` +
            `${withStore} with it`);
        assert.ok(withStore * 2 < without);
        assertOnlyNewTokens(await atOnce(server, one, chats));
        await checkWrongUser(server, one, chats, common);
    });
    await withServer(one, async (server) => { // a new server remembers nothing
        assertOnlyNewTokens(await inTurn(chats, 1, throughScript(server, one)));
        const newcomer = {...chats[1], user: {...chats[1].user, name: "newcomer"}}; // begins with what another's chat holds
        assertOnlyNewTokens([await turn(newcomer, throughScript(server, one))]);
        await checkOtherWay(t, server, one, chats[0]);
    });
    await kvtool("store", "verify");
    assertNothingStays();
}

test("llama: three users take turns in two slots", (t) => checkUsersInTurn(t, LLAMA));
test("gemma3, a window with checkpoints: the same", (t) => checkUsersInTurn(t, GEMMA3));

// --- refused

const WORDS = "the sun and the moon and the sea and the sand";

async function savedBy(one, filename, erase = false) {
    await withServer(one, async (server) => {
        await complete(server, 0, WORDS);
        if (erase) await onSlot(server, {}, "erase");
        await onSlot(server, {}, "save", filename);
    });
}

// One cell at position -1: a server takes that for a sequence without cells, and dies of it at the next request.
async function withLowestPosition(position, input, output) {
    const {offset, size} = (await rangesOf(inWork(input))).find(({label}) => /\.cells$/.test(label));
    writeChanged(inWork(input), inWork(output), (bytes) => { bytes.writeInt32LE(position, offset + size - 12); });
}

async function putDamage() {
    await savedBy(LLAMA, "sound");
    await savedBy(GEMMA3, "gemma3");
    await savedBy(LLAMA, "empty", true);
    await withLowestPosition(-1, "sound", "negative");
    await withLowestPosition(-2, "sound", "unnoticed");
    await kvtool("convert", inWork("sound"), "-q", "-o", inWork("q8_0"), "--cache-type-k", "q8_0", "--cache-type-v", "q8_0",
        "--model", modelFile(LLAMA));
    await putFile("gemma3", "gemma3", GEMMA3);
    for (const name of ["empty", "negative", "q8_0"]) await putFile(name, name, LLAMA);
}

const REFUSALS = {
    "gemma3": /'gemma3' is of another model/, "q8_0": /'q8_0' is not restored: refused: .*q8_0/,
    "empty": /'empty' is not restored: it is empty/, "negative": /'negative' is not restored: dies: /,
};

const cachedOf = async (server, prompt) => (await complete(server, 1, prompt)).timings.cache_n;

test("what would empty a slot or end the server does not reach it", async (t) => {
    await putDamage();
    await withServer(LLAMA, async (server) => {
        await complete(server, 1, WORDS);
        const held = await cachedOf(server, WORDS);
        assert.ok(held > 0);
        for (const [name, words] of Object.entries(REFUSALS)) {
            const {status, stdout, stderr} = await runScript(server, LLAMA, ["restore", name, "1"]);
            t.diagnostic(stderr.trim());
            assert.notEqual(status, 0);
            assert.equal(stdout, "");
            assert.match(stderr, words);
            assert.equal(stderr.trim().split("\n").length, 1);
            assert.equal(await cachedOf(server, WORDS), held);
        }
        await script(server, LLAMA, "erase", "1");
        const {stderr} = await runScript(server, LLAMA, ["save", "nothing", "1"]);
        assert.match(stderr, /^named-slots: slot 1 is not saved as 'nothing': it is empty\n$/);
    });
    assertNothingStays();
});

// Were they not refused: this is what they do.
for (const name of ["gemma3", "q8_0", "empty"])
    test(`${name}, restored all the same, leaves the slot empty`, () => withServer(LLAMA, async (server) => {
        await complete(server, 1, WORDS);
        await onSlot(server, {slot: 1}, "restore", name).catch((error) => assert.match(error.message, /: 400 /));
        assert.equal(await cachedOf(server, WORDS), 0);
    }));

test("negative, restored all the same, ends the server", () => withServer(LLAMA, async (server) => {
    await onSlot(server, {slot: 1}, "restore", "negative");
    await assert.rejects(complete(server, 0, WORDS).then(() => complete(server, 1, WORDS)));
    await server.ended;
}));

test("a position below -1 is an error that a server does not notice, as kvtool says", () => withServer(LLAMA, async (server) => {
    const {stdout} = await runKvtool("check", "--json", inWork("unnoticed"), "--for", "0.7.0", ...CACHE_ARGS);
    const {passed, target} = JSON.parse(stdout);
    await onSlot(server, {slot: 1}, "restore", "unnoticed");
    assert.ok(!passed && target.next_request === "reused");
    assert.ok(await cachedOf(server, WORDS) > 0);
}));

// --- the script by itself

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A server saves a busy slot when it is done with it, so that there is time to stop the script in between.
test("a script that is stopped while it waits for the server leaves no file", (t) => withServer(LLAMA, async (server) => {
    const lock = inWork(".named-slots.0");
    fs.rmSync(lock, {force: true});
    let answering = true;
    const much = {n_predict: 3500, grammar: "", ignore_eos: true, n_probs: 0, return_tokens: false};
    const busy = complete(server, 0, WORDS, much).then(() => { answering = false; });
    const saving = startScript(server, LLAMA, "save", "stopped", "0");
    while (answering && !fs.existsSync(lock)) await pause(10);
    await pause(300); // the lock is taken just before the server is asked
    t.diagnostic(`the server is ${answering ? "still busy" : "through already"}`);
    process.kill(-saving.pid, "SIGTERM");
    await once(saving, "close");
    await busy;
    await onSlot(server, {}, "save", "after"); // whatever it was asked before is done by now
    assertNothingStays();
}));

test("where there is no server the script says so in one line", async () => {
    const {status, stderr} = await runScript({port: 1}, LLAMA, ["restore", USERS[0].name]);
    assert.equal(status, 1);
    assert.match(stderr, /^named-slots: http.*\n$/);
    assertNothingStays();
});

// --- what it costs

// Compared with the last save as a packed file.
const SAVES = 33, LIMIT = 1.2;

test("a chat saved after each of its turns is kept once", (t) => withServer(LLAMA, async (server) => {
    const last = path.join(home, "last"), chat = {user: USERS[1], text: WORDS.repeat(3), stored: 0};
    process.env.KVTOOL_STORE = path.join(home, "growing");
    await kvtool("store", "init");
    for (let i = 1; i <= SAVES; i++) {
        await turn(chat, (_, prompt) => complete(server, 0, prompt));
        chat.text += WORDS;
        await script(server, LLAMA, "save", `turn ${i}`, "0");
    }
    await kvtool("store", "get", "-q", `turn ${SAVES}`, "-o", last);
    await kvtool("pack", "-q", last, "-o", last + ".kvz");
    const {block_bytes, file_bytes, entries} = await kvtoolJson("store", "du"), packed = fs.statSync(last + ".kvz").size;
    const alone = entries.find(({name}) => name === `turn ${SAVES}`).packed_bytes;
    const times = (size) => (block_bytes / size).toFixed(2);
    t.diagnostic(`${SAVES} saves of a chat, ${chat.stored} tokens in the end: ${file_bytes} bytes in ` +
        `blocks of ${block_bytes}, ${times(alone)} of the last one alone (${alone}), ${times(packed)} of it as a packed file (${packed})`);
    assert.ok(block_bytes <= LIMIT * packed && packed * 10 < file_bytes);
    await kvtool("store", "verify");
}));
