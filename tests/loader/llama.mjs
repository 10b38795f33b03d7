// A real llama.cpp v0.4.0, called from node: the shared libraries of one npm package through koffi.
//
// Only what these tests need is bound. The structs below state the library's ABI; a library that lays them out
// differently shows in its default values, which are compared before anything else is called.
import {createRequire} from "node:module";
import fs from "node:fs";
import path from "node:path";

const LIBRARY_VERSION = "v0.4.0";

/** ggml's numbers of the cache types, by the names that llama.cpp's options use. */
export const CACHE_TYPES = {f32: 0, f16: 1, q4_0: 2, q4_1: 3, q5_0: 6, q5_1: 7, q8_0: 8, iq4_nl: 20, bf16: 30};

// Fields in memory order, one line a run of equal types.
const MODEL_PARAMS = [
    "void*: devices tensor_buft_overrides",
    "int32: n_gpu_layers split_mode load_mode lazy_mode main_gpu",
    "void*: tensor_split progress_callback progress_user_data kv_overrides",
    "bool: vocab_only check_tensors use_extra_bufts no_host no_alloc load_mtp",
];
const CONTEXT_PARAMS = [
    "uint32: n_ctx n_batch n_ubatch n_seq_max n_rs_seq n_outputs_max n_outputs_max_per_seq",
    "int32: n_threads n_threads_batch ctx_type rope_scaling_type pooling_type attention_type flash_attn_type",
    "float: rope_freq_base rope_freq_scale yarn_ext_factor yarn_attn_factor yarn_beta_fast yarn_beta_slow",
    "uint32: yarn_orig_ctx",
    "float: defrag_thold",
    "void*: cb_eval cb_eval_user_data",
    "int32: type_k type_v",
    "void*: abort_callback abort_callback_data",
    "bool: embeddings offload_kqv no_perf op_offload swa_full kv_unified",
    "void*: samplers",
    "size_t: n_samplers",
    "void*: ctx_other",
];
const BATCH = ["int32: n_tokens", "void*: token embd pos n_seq_id seq_id logits"];

// Chosen so that a field added, dropped or resized anywhere before the last pointer moves one of them.
const EXPECTED_DEFAULTS = {
    n_ctx: 512, n_batch: 2048, n_ubatch: 512, n_seq_max: 1, rope_scaling_type: -1, pooling_type: -1, attention_type: -1,
    flash_attn_type: -1, yarn_beta_fast: -1, defrag_thold: -1, type_k: 1, type_v: 1, embeddings: false,
    offload_kqv: true, op_offload: true, swa_full: true, kv_unified: false, n_samplers: 0,
};

const FUNCTIONS = [
    "void llama_log_set(LogCallback *callback, void *data)",
    "void llama_backend_init()",
    "ModelParams llama_model_default_params()",
    "ContextParams llama_context_default_params()",
    "void *llama_model_load_from_file(const char *path, ModelParams params)",
    "void *llama_model_get_vocab(void *model)",
    "int32 llama_vocab_n_tokens(void *vocab)",
    "void *llama_init_from_model(void *model, ContextParams params)",
    "void *llama_get_memory(void *context)",
    "int32 llama_memory_seq_pos_min(void *memory, int32 sequence)",
    "int32 llama_memory_seq_pos_max(void *memory, int32 sequence)",
    "bool llama_memory_seq_rm(void *memory, int32 sequence, int32 from, int32 to)",
    "void llama_memory_seq_cp(void *memory, int32 sequence, int32 copy, int32 from, int32 to)",
    "void llama_memory_seq_keep(void *memory, int32 sequence)",
    "void llama_memory_seq_add(void *memory, int32 sequence, int32 from, int32 to, int32 by)",
    "bool llama_state_save_file(void *context, const char *path, void *tokens, size_t count)",
    "size_t llama_state_seq_save_file(void *context, const char *path, int32 sequence, void *tokens, size_t count)",
    "bool llama_state_load_file(void *context, const char *path, void *tokens, size_t capacity, void *count)",
    "size_t llama_state_seq_load_file(void *context, const char *path, int32 sequence, void *tokens, size_t capacity, void *count)",
    "size_t llama_state_set_data(void *context, void *bytes, size_t size)",
    "size_t llama_state_seq_set_data(void *context, void *bytes, size_t size, int32 sequence)",
    "Batch llama_batch_init(int32 tokens, int32 embedding, int32 sequences)",
    "int32 llama_decode(void *context, Batch batch)",
    "void *llama_get_logits_ith(void *context, int32 index)",
];

function structFields(lines) {
    const fields = {};
    for (const line of lines) {
        const [type, names] = line.split(": ");
        for (const name of names.split(" ")) fields[name] = type;
    }
    return fields;
}

function declareTypes(koffi) {
    koffi.struct("ModelParams", structFields(MODEL_PARAMS));
    koffi.struct("ContextParams", structFields(CONTEXT_PARAMS));
    koffi.struct("Batch", structFields(BATCH));
    return koffi.proto("void LogCallback(int level, const char *text, void *data)");
}

function bindFunctions(library) {
    const nameOf = (declaration) => declaration.match(/(\w+)\(/)[1];
    return Object.fromEntries(FUNCTIONS.map((f) => [nameOf(f).replace("llama_", ""), library.func(f)]));
}

function checkAbi(defaults) {
    for (const [field, expected] of Object.entries(EXPECTED_DEFAULTS)) {
        const found = typeof expected === "number" ? Number(defaults[field]) : defaults[field];
        if (found !== expected) throw new Error(`not the ABI of llama.cpp ${LIBRARY_VERSION}: ${field} is ${found} by default`);
    }
}

/** The library itself. `packages` is the folder that holds node_modules; `log` gathers its warnings and errors. */
export class Llama {
    constructor(packages) {
        const require = createRequire(path.resolve(packages, "package.json"));
        this.koffi = require("koffi");
        this.log = [];
        const folder = path.join(packages, "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64");
        this.#open(fs.realpathSync(folder));
    }

    #open(folder) {
        const {koffi} = this;
        const logCallback = declareTypes(koffi);
        const open = (name) => koffi.load(path.join(folder, name), {global: true});
        open("libggml-base.so");
        const ggml = open(`libggml.${LIBRARY_VERSION}.so`);
        this.api = bindFunctions(open(`libllama.${LIBRARY_VERSION}.so`));
        this.#collectLog(logCallback);
        // the CPU back end is a plug-in; the one that suits this processor is found in the folder
        ggml.func("void ggml_backend_load_all_from_path(const char *folder)")(folder);
        this.api.backend_init();
        this.contextDefaults = this.api.context_default_params();
        checkAbi(this.contextDefaults);
    }

    #collectLog(logCallback) {
        const WARNING = 3, ERROR = 4;
        const keep = (level, text) => {
            if (level === WARNING || level === ERROR) this.log.push(text.trim());
        };
        this.api.log_set(this.koffi.register(keep, this.koffi.pointer(logCallback)), null);
    }

    /** Loads a GGUF file on the CPU. */
    model(file) {
        const params = {...this.api.model_default_params(), n_gpu_layers: 0};
        const handle = this.api.model_load_from_file(file, params);
        if (!handle) throw new Error("the model does not load");
        return new Model(this, handle);
    }
}

class Model {
    constructor(llama, handle) {
        Object.assign(this, {llama, handle});
        this.vocabularySize = llama.api.vocab_n_tokens(llama.api.model_get_vocab(handle));
    }

    /** `params` are fields of llama_context_params that differ from the defaults. One thread: results repeat exactly. */
    context(params) {
        const all = {...this.llama.contextDefaults, n_threads: 1, n_threads_batch: 1, ...params};
        const handle = this.llama.api.init_from_model(this.handle, all);
        if (!handle) throw new Error("no context with these parameters");
        return new Context(this, handle);
    }
}

/** What llama.cpp says of a load: whether it took the bytes, and the token ids of the header (none in a bare state). */
const loaded = (returned, tokens = []) => ({ok: Boolean(Number(returned)), tokens});

class Context {
    constructor(model, handle) {
        Object.assign(this, {model, handle, api: model.llama.api, koffi: model.llama.koffi});
        this.memory = this.api.get_memory(handle);
    }

    loadSession(file) {
        return this.#loadFile(file, (...buffer) => this.api.state_load_file(this.handle, file, ...buffer));
    }

    loadSequence(file, sequence) {
        return this.#loadFile(file, (...buffer) => this.api.state_seq_load_file(this.handle, file, sequence, ...buffer));
    }

    loadRaw(bytes) {
        return loaded(this.api.state_set_data(this.handle, bytes, bytes.length));
    }

    loadRawSequence(bytes, sequence) {
        return loaded(this.api.state_seq_set_data(this.handle, bytes, bytes.length, sequence));
    }

    #loadFile(file, call) {
        // no file holds more ids than it has words
        const capacity = Math.ceil(fs.statSync(file).size / 4);
        const ids = Buffer.alloc(Math.max(4, capacity * 4)), count = Buffer.alloc(8);
        const returned = call(ids, capacity, count);
        const found = Math.min(capacity, Number(count.readBigUInt64LE(0)));
        return loaded(returned, Array.from({length: found}, (_, i) => ids.readInt32LE(4 * i)));
    }

    /** Lowest and highest position of a sequence, [-1, -1] when it is empty. */
    positions(sequence) {
        return [this.api.memory_seq_pos_min(this.memory, sequence), this.api.memory_seq_pos_max(this.memory, sequence)];
    }

    /** Forgets a sequence from a position on. False where the memory cannot be cut there, as recurrent state cannot. */
    forgetFrom(sequence, position) {
        return this.api.memory_seq_rm(this.memory, sequence, position, -1);
    }

    /** llama_memory_seq_rm; -1 stands for every sequence, and for no end. */
    remove(sequence, from, to) {
        return this.api.memory_seq_rm(this.memory, sequence, from, to);
    }

    copy(sequence, copy, from, to) {
        this.api.memory_seq_cp(this.memory, sequence, copy, from, to);
    }

    keep(sequence) {
        this.api.memory_seq_keep(this.memory, sequence);
    }

    /** Does what llama.cpp puts off until the next decode: one token is computed behind the sequence and taken back. */
    settle(sequence) {
        const end = this.positions(sequence)[1] + 1;
        this.decode(0, end, sequence);
        this.remove(sequence, end, -1);
    }

    /** llama_memory_seq_add, with K turned. */
    shift(sequence, from, to, by) {
        this.api.memory_seq_add(this.memory, sequence, from, to, by);
        this.settle(sequence);
    }

    saveSession(file, tokens) {
        if (!this.api.state_save_file(this.handle, file, Int32Array.from(tokens), tokens.length)) throw new Error("not saved");
    }

    saveSequence(file, sequence, tokens) {
        if (!Number(this.api.state_seq_save_file(this.handle, file, sequence, Int32Array.from(tokens), tokens.length)))
            throw new Error("not saved");
    }

    /** Appends one token to a sequence and gives the logits of what may come next. */
    decode(token, position, sequence) {
        const status = this.api.decode(this.handle, this.#oneToken(token, position, sequence));
        if (status !== 0) throw new Error(`llama_decode answers ${status} for sequence ${sequence}, position ${position}`);
        const logits = this.api.get_logits_ith(this.handle, 0);
        return Array.from(this.koffi.decode(logits, this.koffi.array("float", this.model.vocabularySize)));
    }

    #oneToken(token, position, sequence) {
        const batch = this.api.batch_init(1, 0, 1);
        this.koffi.encode(batch.token, "int32", token);
        this.koffi.encode(batch.pos, "int32", position);
        this.koffi.encode(batch.n_seq_id, "int32", 1);
        this.koffi.encode(this.koffi.decode(batch.seq_id, "void*"), "int32", sequence);
        this.koffi.encode(batch.logits, "int8", 1);
        return {...batch, n_tokens: 1};
    }
}
