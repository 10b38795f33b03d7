// Edits done by llama.cpp itself, in a process of its own. See live-child.mjs for the steps.
import {fork} from "node:child_process";
import {fileURLToPath} from "node:url";

const CHILD = fileURLToPath(new URL("live-child.mjs", import.meta.url));
const TIME_LIMIT_MS = 120_000;

/** Resolves with what each step returned; rejects when llama.cpp fails or ends itself. */
export function live(model, context, steps) {
    return new Promise((resolve, reject) => {
        const child = fork(CHILD, {stdio: ["ignore", "ignore", "pipe", "ipc"]});
        const timer = setTimeout(() => child.kill("SIGKILL"), TIME_LIMIT_MS);
        let lastWords = "", result;
        child.stderr.on("data", (text) => lastWords += text);
        child.on("message", (message) => result = message);
        child.on("close", (status, signal) => {
            clearTimeout(timer);
            if (!result) reject(new Error(`llama.cpp ended: ${signal ?? status}: ${lastWords.trim().slice(0, 300)}`));
            else if (result.message) reject(new Error(result.message));
            else resolve(result.answers);
        });
        child.send({packages: process.env.KVTOOL_LOADER_PACKAGES ?? ".", model, context, steps});
    });
}
