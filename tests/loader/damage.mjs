// Rewrites that are wrong on purpose. Each loads without a word, so only a comparison that looks at what the model
// makes of the cache can tell it from a right one: if it passes one of these, the comparison is worth nothing.

const withLabel = (ranges, ending) => ranges.filter(({label}) => label.endsWith(ending));
const slice = (bytes, offset, size) => Buffer.from(bytes.subarray(offset, offset + size));

function exchange(bytes, size, one, other) {
    const kept = slice(bytes, one, size);
    bytes.copy(bytes, one, other, other + size);
    kept.copy(bytes, other);
}

/** Exchanges the K and V payloads of every layer; they must be of one shape. */
export function exchangeKeysAndValues(bytes, ranges) {
    const values = new Map(withLabel(ranges, ".v_data").map((range) => [range.label, range]));
    for (const keys of withLabel(ranges, ".k_data")) {
        const partner = values.get(keys.label.replace(".k_data", ".v_data"));
        if (partner?.size !== keys.size) throw new Error(`${keys.label}: no V of the same size`);
        exchange(bytes, keys.size, keys.offset, partner.offset);
    }
}

/** Exchanges the K and V rows of two cells but not their labels. For one stream of `cells` cells with V in rows. */
export function exchangeRowsOnly(bytes, ranges, cells, i, j) {
    for (const {offset, size} of [...withLabel(ranges, ".k_data"), ...withLabel(ranges, ".v_data")]) {
        const row = size / cells;
        exchange(bytes, row, offset + i * row, offset + j * row);
    }
}
