// A script in a process of its own, which is sent one request and sends one result: what ends that process does not
// end the test.
import {fork} from "node:child_process";

/**
 * Resolves when the process has ended, which it must within the limit:
 *   {result, end, lastWords}   result: what it sent, undefined if nothing; end: its signal or exit status, in words
 */
export function runChild(script, request, limitMs) {
    return new Promise((resolve) => {
        const child = fork(script, {stdio: ["ignore", "ignore", "pipe", "ipc"]});
        const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
        let lastWords = "", result;
        child.stderr.on("data", (text) => lastWords += text);
        child.on("message", (message) => result = message);
        child.on("close", (status, signal) => {
            clearTimeout(timer);
            resolve({result, end: signal ?? `exit ${status}`, lastWords: lastWords.trim()});
        });
        child.send(request);
    });
}
