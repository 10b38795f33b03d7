// The process in which node-llama-cpp 3.20.0 loads one slot file and goes on by one token; it dies with what kills it.
//   request   {packages, model, dump, context, token}   context: options of createContext
//   result    {outcome: "continued", tokens, logs}      logs: of the probability of every id, by id
//             {outcome: "refused", message}
import {createRequire} from "node:module";
import path from "node:path";
import {pathToFileURL} from "node:url";

async function openClient(packages) {
    const entry = createRequire(path.resolve(packages, "package.json")).resolve("node-llama-cpp");
    const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry).href);
    return getLlama({gpu: false, build: "never", skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.error});
}

async function contextFor({packages, model: modelPath, context}) {
    const model = await (await openClient(packages)).loadModel({modelPath, gpuLayers: 0});
    return model.createContext({contextSize: 128, batchSize: 64, threads: 1, ignoreMemorySafetyChecks: true,
        failedCreationRemedy: false, ...context});
}

async function goOn(sequence, token) {
    const everyToken = {temperature: 1, topK: 0, topP: 1, minP: 0, seed: 1};
    const [{next}] = await sequence.controlledEvaluate([[token, {generateNext: {probabilities: true, token: true, options: everyToken}}]]);
    return Object.fromEntries([...next.probabilities].map(([id, p]) => [id, Math.log(p)]));
}

async function answer(request) {
    const sequence = (await contextFor(request)).getSequence();
    try {
        await sequence.loadStateFromFile(request.dump, {acceptRisk: true});
    } catch (error) {
        return {outcome: "refused", message: error.message};
    }
    return {outcome: "continued", tokens: [...sequence.contextTokens], logs: await goOn(sequence, request.token)};
}

process.once("message", async (request) => {
    const result = await answer(request).catch((error) => ({outcome: "failed", message: error.message}));
    process.send(result, () => process.exit());
});
