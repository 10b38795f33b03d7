// Where the dumps that tests convert come from: testdata/, or all genuine ones below $KVTOOL_CORPUS.
import fs from "node:fs";
import path from "node:path";
import {fileURLToPath} from "node:url";

export const TESTDATA = fileURLToPath(new URL("../../testdata/", import.meta.url));

const CORPUS = process.env.KVTOOL_CORPUS;

/** The folders of dumps of 2025 and 2026, each with a sidecar. */
export const MODERN_DUMPS = CORPUS ? path.join(CORPUS, "modern/dumps") : path.join(TESTDATA, "modern");

/** The folders of what servers and their library wrote. */
export const SERVER_DUMPS = CORPUS ? path.join(CORPUS, "server") : path.join(TESTDATA, "server");

/** Folders of what builds of before today's versions wrote, b4748 to b10256, in their order. */
export const OLDER = ["b4748", "rn-0.6.7", "rn-0.11.0", "rn-0.11.5", "b9254", "b10256"];

/** Whether a build stored quantized rows of heads of 64, 128 ... rotated. */
export const rotates = (folder) => OLDER.indexOf(folder) >= OLDER.indexOf("b9254");

export const sidecarOf = (file) => JSON.parse(fs.readFileSync(file + ".json", "utf8"));

export const modelPath = (name) => path.join(TESTDATA, "models", name);

/** The paths of a folder's dumps whose names match. */
export function dumpsIn(folder, pattern) {
    const whole = path.join(MODERN_DUMPS, folder);
    return fs.readdirSync(whole).filter((name) => pattern.test(name)).sort().map((name) => path.join(whole, name));
}

const FIRST_BUILD_OF_TODAY = 10645;

/** Slot files of node-llama-cpp of before today's versions: their path and what the client noted of each. */
export function olderClientDumps() {
    return dumpsIn("clients", /^node-llama-cpp-.*\.ggsq$/)
        .map((file) => ({...JSON.parse(fs.readFileSync(file + ".client.json", "utf8")), file}))
        .filter(({source}) => Number(source.llama_cpp.replace("b", "")) < FIRST_BUILD_OF_TODAY);
}
