// The kvtool under test (its path is in the environment's KVTOOL), for the drivers here and in ../server.
import {execFile} from "node:child_process";
import fs from "node:fs";

const LIMITS = {timeout: 60_000, maxBuffer: 64 << 20};

/** Runs kvtool and resolves with its exit status and output; a status other than 0 is for the caller to judge. */
export function runKvtool(...args) {
    return new Promise((resolve, reject) => {
        execFile(process.env.KVTOOL, args, LIMITS, (error, stdout, stderr) => {
            if (error && typeof error.code !== "number") reject(error);
            else resolve({status: error?.code ?? 0, stdout, stderr});
        });
    });
}

async function kvtoolOrThrow(...args) {
    const {status, stdout, stderr} = await runKvtool(...args);
    if (status !== 0) throw new Error(`kvtool ${args.join(" ")}: exit status ${status}: ${stderr.trim()}`);
    return stdout;
}

/** Applies one edit, written as on the command line without the file ("swap 1 6 --memory 1"). */
export async function rewrite(edit, input, output) {
    const [verb, ...args] = edit.split(" ");
    await kvtoolOrThrow(verb, input, ...args, "-o", output);
}

/** The labelled byte ranges of a dump, [{offset, size, label}, ...]. */
export async function rangesOf(file) {
    return JSON.parse(await kvtoolOrThrow("map", file, "--json")).ranges;
}

/** Writes a changed copy of a dump: `change` gets its bytes and may return another buffer. */
export function writeChanged(input, output, change) {
    const bytes = fs.readFileSync(input);
    fs.writeFileSync(output, change(bytes) ?? bytes);
}
