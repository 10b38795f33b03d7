// A genuine llama-server on the loopback interface, for as long as one test needs it.
import {spawn} from "node:child_process";
import {once} from "node:events";
import net from "node:net";

const HOST = "127.0.0.1";
const START_LIMIT_MS = 30_000, REQUEST_LIMIT_MS = 30_000;

async function freePort() {
    const probe = net.createServer().listen(0, HOST);
    await once(probe, "listening");
    const {port} = probe.address();
    probe.close();
    await once(probe, "close");
    return port;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class LlamaServer {
    /** `args` are those that differ from test to test: the model and how its cache is laid out. */
    static async start(program, slotFolder, args) {
        const server = new LlamaServer();
        server.port = await freePort();
        const fixed = ["--host", HOST, "--port", server.port, "--slot-save-path", slotFolder + "/", "-t", "1", "-c", "256",
            "--offline", "--no-webui"];
        server.process = spawn(program, [...fixed, ...args].map(String), {stdio: ["ignore", "ignore", "pipe"]});
        server.log = "";
        server.process.stderr.on("data", (text) => server.log += text);
        server.ended = once(server.process, "close");
        await server.#ready();
        return server;
    }

    async #ready() {
        const limit = Date.now() + START_LIMIT_MS;
        while (!await this.#healthy()) {
            if (this.process.exitCode !== null || Date.now() > limit) throw new Error(`llama-server does not start: ${this.#lastWords()}`);
            await pause(50);
        }
    }

    #healthy() {
        return fetch(`http://${HOST}:${this.port}/health`).then((answer) => answer.ok, () => false);
    }

    #lastWords() {
        return this.log.trim().split("\n").slice(-3).join(" | ");
    }

    /** POSTs JSON and gives back JSON; throws on anything but 200, with what the server's log says of it. */
    async post(path, body) {
        const answer = await fetch(`http://${HOST}:${this.port}${path}`, {
            method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
            signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
        }).catch((error) => { throw new Error(`POST ${path}: ${error.message}: ${this.#lastWords()}`); });
        const text = await answer.text();
        if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${text}: ${this.#lastWords()}`);
        return JSON.parse(text);
    }

    async stop() {
        this.process.kill();
        await this.ended;
    }
}
