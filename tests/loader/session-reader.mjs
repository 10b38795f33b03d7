// What a session of version 10 or a slot file of version 3 holds, for models of one plain cache or of recurrent states
// only: read here on its own, so that kvtool is not its own witness.
import fs from "node:fs";

const SESSION = 0x6767736e;

class Bytes {
    constructor(file) {
        this.all = fs.readFileSync(file);
        this.at = 0;
    }
    u32() {
        return this.all.readUInt32LE((this.at += 4) - 4);
    }
    i32() {
        return this.all.readInt32LE((this.at += 4) - 4);
    }
    u64() {
        return Number(this.all.readBigUInt64LE((this.at += 8) - 8));
    }
    take(size) {
        if (this.at + size > this.all.length) throw new Error(`${size} bytes at ${this.at}: past the end`);
        return this.all.subarray(this.at, this.at += size);
    }
    list(n, one) {
        return Array.from({length: n}, one);
    }
}

function rowTensor(io, cells) {
    io.i32();
    const size = io.u64();
    return io.list(cells, () => io.take(size));
}

// Channel by channel in the file, cell by cell in the answer.
function turnedTensor(io, cells) {
    io.i32();
    const element = io.u32(), width = io.u32(), channels = io.take(cells * element * width);
    return io.list(cells, (_, c) => Buffer.concat(io.list(width, (_, w) =>
        channels.subarray((w * cells + c) * element, (w * cells + c + 1) * element))));
}

// A cache without cells ends behind their count, recurrent states do not.
function memory(io, recurrent) {
    const count = io.u32();
    const cells = io.list(count, () => ({pos: io.i32(), seqs: io.list(io.u32(), () => io.i32())}));
    if (count === 0 && !recurrent) return [];
    const turned = io.u32(), layers = io.u32();
    const k = io.list(layers, () => rowTensor(io, count));
    const v = io.list(layers, () => (turned ? turnedTensor : rowTensor)(io, count));
    return cells.map((cell, c) => ({...cell, k: k.map((rows) => rows[c]), v: v.map((rows) => rows[c])}));
}

/** {tokens, cells: [{pos, seqs, k: [row of each layer], v}]}; throws unless the file ends there. */
export function readDump(file, recurrent) {
    const io = new Bytes(file), session = io.u32() === SESSION;
    io.u32();
    const tokens = io.list(io.u32(), () => io.i32());
    if (session) io.take(io.u32());
    if (!recurrent && io.u32() !== 1) throw new Error("expected one stream");
    const cells = memory(io, recurrent);
    if (io.at !== io.all.length) throw new Error(`${io.all.length - io.at} bytes remain`);
    return {tokens, cells};
}
