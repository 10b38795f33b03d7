// The process that a dump is loaded in: real llama.cpp ends itself on some damaged files, so it never runs in the driver.
// Takes one request from its parent, answers it and exits. See loader.mjs for both shapes.
import fs from "node:fs";
import {Llama} from "./llama.mjs";

const SESSION = 0x6767736e, SEQUENCE = 0x67677371, RAW_SEQUENCE = 0xaf143cd8;

function load(context, dump, sequence) {
    const bytes = fs.readFileSync(dump);
    switch (bytes.length < 4 ? 0 : bytes.readUInt32LE(0)) {
        case SESSION: return context.loadSession(dump);
        case SEQUENCE: return context.loadSequence(dump, sequence);
        case RAW_SEQUENCE: return context.loadRawSequence(bytes, sequence);
        default: return context.loadRaw(bytes);
    }
}

// Every sequence goes on, not only the first: damage to one must not hide behind the others.
function goOn(context, ends, token) {
    return ends.map(({sequence, end}) => ({sequence, position: end, logits: context.decode(token, end, sequence)}));
}

const endsOf = (positions) => positions.map(([, last], sequence) => ({sequence, end: last + 1})).filter(({end}) => end > 0);

// A cache holds its rows with their positions worked in, so labels that changed places within a sequence leave its next
// token as it was. Going back to the middle brings them out: what is forgotten goes by the labels.
function cutInTheMiddle(context, positions) {
    const middle = (sequence) => Math.ceil((positions[sequence][0] + positions[sequence][1]) / 2);
    return endsOf(positions).map(({sequence}) => ({sequence, end: middle(sequence)}))
        .filter(({sequence, end}) => context.forgetFrom(sequence, end));
}

function loadAndContinue(llama, {model: file, dump, context: params, sequence, token, cuts}) {
    const model = llama.model(file), context = model.context(params);
    const {ok, tokens} = load(context, dump, sequence);
    if (!ok) return {outcome: "refused"};
    const positions = Array.from({length: params.n_seq_max}, (_, s) => context.positions(s));
    const fromTheEnd = goOn(context, endsOf(positions), token);
    if (!cuts) return {outcome: "continued", tokens, positions, next: fromTheEnd};
    // in a context of its own: a decoded token may take the cell of one that has left the window, whichever comes first
    const again = model.context(params);
    load(again, dump, sequence);
    return {outcome: "continued", tokens, positions, next: [...fromTheEnd, ...goOn(again, cutInTheMiddle(again, positions), token)]};
}

function answer(request) {
    const log = [];
    try {
        const llama = new Llama(request.packages);
        llama.log = log;
        return {...loadAndContinue(llama, request), log};
    } catch (error) {
        return {outcome: "failed", message: error.message, log};
    }
}

process.once("message", (request) => process.send(answer(request), () => process.exit()));
