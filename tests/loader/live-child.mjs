// The process that edits live: real llama.cpp loads dumps, does to them what the request says, and saves.
//
//   request   {packages, model, context, steps: [[what, ...arguments], ...]}
//             ["session", FILE], ["sequence", FILE, ID]   load
//             ["decode", TOKENS, POSITION, ID]            compute tokens one by one
//             ["rm", ID, A, B], ["cp", S, D, A, B], ["keep", ID], ["add", ID, A, B, N]
//             ["settle", ID]                              what waits for the next decode: copies between streams
//             ["save", FILE, TOKENS], ["save-sequence", FILE, ID, TOKENS]
//   answer    {answers: [what each step returned], message (after an error)}
import {Llama} from "./llama.mjs";

const STEPS = {
    session: (context, file) => context.loadSession(file).ok,
    sequence: (context, file, id) => context.loadSequence(file, id).ok,
    decode: (context, tokens, position, id) => void tokens.forEach((token, i) => context.decode(token, position + i, id)),
    rm: (context, ...where) => context.remove(...where),
    cp: (context, ...where) => context.copy(...where),
    keep: (context, id) => context.keep(id),
    settle: (context, id) => context.settle(id),
    add: (context, ...where) => context.shift(...where),
    save: (context, file, tokens) => context.saveSession(file, tokens),
    "save-sequence": (context, file, id, tokens) => context.saveSequence(file, id, tokens),
};

function answer({packages, model, context: params, steps}) {
    try {
        const context = new Llama(packages).model(model).context(params);
        return {answers: steps.map(([what, ...rest]) => STEPS[what](context, ...rest) ?? null)};
    } catch (error) {
        return {answers: [], message: error.message};
    }
}

process.once("message", (request) => process.send(answer(request), () => process.exit()));
