// Edits done by llama.cpp itself, in a process of its own. See live-child.mjs for the steps.
import {fileURLToPath} from "node:url";
import {runChild} from "./child.mjs";

const CHILD = fileURLToPath(new URL("live-child.mjs", import.meta.url));
const TIME_LIMIT_MS = 120_000;

/** Resolves with what each step returned; rejects when llama.cpp fails or ends itself. */
export async function live(model, context, steps) {
    const packages = process.env.KVTOOL_LOADER_PACKAGES ?? ".";
    const {result, end, lastWords} = await runChild(CHILD, {packages, model, context, steps}, TIME_LIMIT_MS);
    if (!result) throw new Error(`llama.cpp ended: ${end}: ${lastWords.slice(0, 300)}`);
    if (result.message) throw new Error(result.message);
    return result.answers;
}
