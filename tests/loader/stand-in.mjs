// Models of the shapes that the files of history/ were made with, and of other weights: those are lost. What a loader
// restores does not depend on weights; and two caches of the same content go on alike under any.
import fs from "node:fs";

const U32 = 4, F32_KEY = 6, STRING = 8, ARRAY = 9, F32 = 0, ALIGNMENT = 32;
const VOCABULARY = 96, EPSILON = 1e-5;

const u32 = (n) => Buffer.from(Uint32Array.of(n).buffer);
const u64 = (n) => Buffer.from(BigUint64Array.of(BigInt(n)).buffer);
const text = (s) => Buffer.concat([u64(Buffer.byteLength(s)), Buffer.from(s)]);
const padding = (size) => Buffer.alloc(Math.ceil(size / ALIGNMENT) * ALIGNMENT - size);

function keyValue([key, value]) {
    if (typeof value === "string") return [text(key), u32(STRING), text(value)];
    if (Array.isArray(value)) return [text(key), u32(ARRAY), u32(U32), u64(value.length), ...value.map(u32)];
    if (Number.isInteger(value)) return [text(key), u32(U32), u32(value)];
    return [text(key), u32(F32_KEY), Buffer.from(Float32Array.of(value).buffer)];
}

// Evenly spread in [-1, 1), the same in every run (the generator is Marsaglia's xorshift).
function randomValues(seed) {
    let state = seed;
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state / 2 ** 31;
    };
}

// Norms are ones, ssm_a is negative as it has to be, and products keep the size of what goes in.
function weights(name, shape, random) {
    const values = new Float32Array(shape.reduce((all, n) => all * n, 1));
    if (/norm/.test(name)) return values.fill(1);
    if (/ssm_a$/.test(name)) return values.map(() => -1 - Math.abs(random()));
    const scale = name === "token_embd.weight" ? 1 : Math.sqrt(3 / shape[0]);
    return values.map(() => scale * random());
}

function writeModel(file, keys, tensors) {
    const random = randomValues(20240728), table = [], data = [];
    let offset = 0;
    for (const [name, shape] of tensors) {
        const bytes = Buffer.from(weights(name, shape, random).buffer), pad = padding(bytes.length);
        table.push(text(name), u32(shape.length), ...shape.map(u64), u32(F32), u64(offset));
        data.push(bytes, pad);
        offset += bytes.length + pad.length;
    }
    const entries = Object.entries(keys);
    const head = Buffer.concat([Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length),
        ...entries.flatMap(keyValue), ...table]);
    fs.writeFileSync(file, Buffer.concat([head, padding(head.length), ...data]));
}

const common = (arch, {layers, embd}) => ({
    "general.architecture": arch, "tokenizer.ggml.model": "no_vocab", [`${arch}.vocab_size`]: VOCABULARY,
    [`${arch}.context_length`]: 512, [`${arch}.embedding_length`]: embd, [`${arch}.block_count`]: layers,
    [`${arch}.attention.layer_norm_rms_epsilon`]: EPSILON,
});

const outer = (embd) => [["token_embd.weight", [embd, VOCABULARY]], ["output_norm.weight", [embd]]];
const layersOf = (n, tensors) => Array.from({length: n}, (_, l) =>
    tensors(l).map(([name, shape]) => [`blk.${l}.${name}`, shape])).flat();
const feedForward = (embd, ff) => [["ffn_norm.weight", [embd]], ["ffn_gate.weight", [embd, ff]],
    ["ffn_down.weight", [ff, embd]], ["ffn_up.weight", [embd, ff]]];

function llama({layers, embd, heads, headsKv}) {
    const ff = 2 * embd, kv = embd / heads * headsKv;
    const keys = {...common("llama", {layers, embd}), "llama.feed_forward_length": ff,
        "llama.attention.head_count": heads, "llama.attention.head_count_kv": headsKv};
    return [keys, [...outer(embd), ["output.weight", [embd, VOCABULARY]], ...layersOf(layers, () => [
        ["attn_norm.weight", [embd]], ["attn_q.weight", [embd, embd]], ["attn_k.weight", [embd, kv]],
        ["attn_v.weight", [embd, kv]], ["attn_output.weight", [embd, embd]], ...feedForward(embd, ff)])]];
}

function mamba({layers, embd, inner, conv, state, rank}) {
    const keys = {...common("mamba", {layers, embd}), "mamba.ssm.conv_kernel": conv, "mamba.ssm.inner_size": inner,
        "mamba.ssm.state_size": state, "mamba.ssm.time_step_rank": rank, "mamba.feed_forward_length": 0,
        "mamba.attention.head_count": 0};
    return [keys, [...outer(embd), ["output.weight", [embd, VOCABULARY]], ...layersOf(layers, () => [
        ["attn_norm.weight", [embd]], ["ssm_in.weight", [embd, 2 * inner]], ["ssm_conv1d.weight", [conv, inner]],
        ["ssm_conv1d.bias", [inner]], ["ssm_x.weight", [inner, rank + 2 * state]], ["ssm_dt.weight", [rank, inner]],
        ["ssm_dt.bias", [inner]], ["ssm_a", [state, inner]], ["ssm_d", [inner]], ["ssm_out.weight", [inner, embd]]])]];
}

function openelm({embd, head, headsKv}) {
    const layers = headsKv.length, ff = 2 * embd, heads = headsKv.map((n) => 2 * n);
    const keys = {...common("openelm", {layers, embd}), "openelm.feed_forward_length": headsKv.map(() => ff),
        "openelm.attention.head_count": heads, "openelm.attention.head_count_kv": headsKv,
        "openelm.attention.key_length": head, "openelm.attention.value_length": head};
    return [keys, [...outer(embd), ...layersOf(layers, (l) => [
        ["attn_norm.weight", [embd]], ["attn_qkv.weight", [embd, head * (heads[l] + 2 * headsKv[l])]],
        ["attn_q_norm.weight", [head]], ["attn_k_norm.weight", [head]],
        ["attn_output.weight", [head * heads[l], embd]], ...feedForward(embd, ff)])]];
}

// The models that sidecars name.
const MODELS = {
    "llama-gqa.gguf": () => llama({layers: 2, embd: 128, heads: 4, headsKv: 2}),
    "llama-gqa-v1.gguf": () => llama({layers: 2, embd: 128, heads: 4, headsKv: 2}),
    "llama-ggjt.bin": () => llama({layers: 32, embd: 32, heads: 2, headsKv: 2}),
    "mamba.gguf": () => mamba({layers: 2, embd: 32, inner: 64, conv: 4, state: 16, rank: 2}),
    "openelm.gguf": () => openelm({embd: 64, head: 32, headsKv: [1, 2, 2]}),
};

/** Writes the model that stands for the one a sidecar names. */
export function writeStandIn(file, name) {
    writeModel(file, ...MODELS[name]());
}

export const hasStandIn = (name) => name in MODELS;
