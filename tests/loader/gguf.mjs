// Copies of model files with more keys and tensors, for kinds of models of which none is at hand.
import fs from "node:fs";

const SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8};
const STRING = 8, ARRAY = 9, F32 = 0, ALIGNMENT = 32;

class Reader {
    constructor(bytes) {
        Object.assign(this, {bytes, at: 0});
    }
    u32() {
        return this.bytes.readUInt32LE((this.at += 4) - 4);
    }
    u64() {
        return Number(this.bytes.readBigUInt64LE((this.at += 8) - 8));
    }
    text() {
        const size = this.u64();
        return this.bytes.toString("utf8", this.at, this.at += size);
    }
    value(type) {
        if (type === STRING) this.text();
        else if (type !== ARRAY) this.at += SIZES[type];
        else {
            const element = this.u32();
            for (let n = this.u64(); n > 0; --n) this.value(element);
        }
    }
}

const u32 = (n) => Buffer.from(Uint32Array.of(n).buffer);
const u64 = (n) => Buffer.from(BigUint64Array.of(BigInt(n)).buffer);
const text = (s) => Buffer.concat([u64(Buffer.byteLength(s)), Buffer.from(s)]);
const aligned = (n) => Math.ceil(n / ALIGNMENT) * ALIGNMENT;

/** Writes a copy of a GGUF file that also has these string keys and these tensors of f32 (arrays of numbers). */
export function writeExtended(input, output, {keys = {}, tensors = {}}) {
    const bytes = fs.readFileSync(input), r = new Reader(bytes);
    r.at = 8;
    const tensorCount = r.u64(), keyCount = r.u64(), keysAt = r.at;
    for (let i = 0; i < keyCount; ++i) {
        r.text();
        r.value(r.u32());
    }
    const tableAt = r.at;
    for (let i = 0; i < tensorCount; ++i) {
        r.text();
        const dimensions = r.u32();
        r.at += 8 * dimensions + 4 + 8;
    }
    const data = bytes.subarray(aligned(r.at));
    let offset = aligned(data.length);
    const table = [], more = [Buffer.alloc(offset - data.length)];
    for (const [name, values] of Object.entries(tensors)) {
        table.push(text(name), u32(1), u64(values.length), u32(F32), u64(offset));
        more.push(Buffer.from(Float32Array.from(values).buffer), Buffer.alloc(aligned(4 * values.length) - 4 * values.length));
        offset += aligned(4 * values.length);
    }
    const newKeys = Object.entries(keys).flatMap(([key, value]) => [text(key), u32(STRING), text(value)]);
    const head = Buffer.concat([
        bytes.subarray(0, 8), u64(tensorCount + Object.keys(tensors).length), u64(keyCount + Object.keys(keys).length),
        bytes.subarray(keysAt, tableAt), ...newKeys, bytes.subarray(tableAt, r.at), ...table,
    ]);
    fs.writeFileSync(output, Buffer.concat([head, Buffer.alloc(aligned(head.length) - head.length), data, ...more]));
}
