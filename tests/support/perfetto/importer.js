// SPDX-License-Identifier: Apache-2.0
// Gives traces to Perfetto's own importer and asks it, each trace in an engine of its own.
//
//     importer.js FOLDER
//
// FOLDER holds engine_bundle.js and the modules.  stdin, a JSON line for each trace: {"trace", "seconds", "wasm32",
// "queries"}, the last one a list of SQL texts.  stdout, JSON lines: {"bytes", "seconds", "heap", "error"} of the import,
// then for each query, where the import has no error, {"columns", "error"}, its rows as lists, null.  Whole numbers are
// whole whatever their size.  What cannot be done ends the program with 1, what takes more than "seconds" with 124:
// some traces are read for ever.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { Worker, MessageChannel } = require('worker_threads');

const LATE = 124;
const CHUNK_BYTES = 4 << 20;
// Of TraceProcessorRpc, in Perfetto's trace_processor.proto.
const METHOD = { append: 1, finalize: 2, query: 3, status: 10 };
const FIELD = { message: 1, sequence: 1, request: 2, fatal: 5, appendData: 101, queryArgs: 103, appendResult: 201,
    queryResult: 203, finalizeResult: 212 };
const CELL = { nothing: 1, whole: 2, real: 3, text: 4, blob: 5 };

// --- protobuf ------------------------------------------------------------------------------------------------
function varint(value) {
    const bytes = [];
    for (; value > 127; value = Math.floor(value / 128))
        bytes.push(value % 128 + 128);
    bytes.push(value);
    return Buffer.from(bytes);
}

function numberField(field, value) {
    return Buffer.concat([varint(field * 8), varint(value)]);
}

function bytesField(field, bytes) {
    return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

class Reader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    get more() { return this.at < this.bytes.length; }
    varint() {
        let low = 0, high = 0n, shift = 0;
        for (;;) {
            const byte = this.bytes[this.at++];
            if (byte === undefined)
                throw new RangeError('cut short');
            if (shift < 28)
                low |= (byte & 127) << shift;
            else
                high |= BigInt(byte & 127) << BigInt(shift);
            if (byte < 128)
                return high ? BigInt.asIntN(64, high | BigInt(low)) : low;
            shift += 7;
        }
    }
    // [number, value]: of bytes a view
    field() {
        const tag = Number(this.varint());
        const sizes = { 1: 8, 5: 4 };
        if (tag % 8 === 0)
            return [Math.floor(tag / 8), this.varint()];
        const size = tag % 8 === 2 ? Number(this.varint()) : sizes[tag % 8];
        if (size === undefined || this.at + size > this.bytes.length)
            throw new RangeError('cut short');
        this.at += size;
        return [Math.floor(tag / 8), this.bytes.subarray(this.at - size, this.at)];
    }
}

function* fieldsOf(bytes) {
    for (const reader = new Reader(bytes); reader.more;)
        yield reader.field();
}

function varintsOf(bytes) {
    const list = [];
    for (const reader = new Reader(bytes); reader.more;)
        list.push(reader.varint());
    return list;
}

const textOf = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
const errorOf = (bytes, number) => {
    for (const [field, value] of fieldsOf(bytes || Buffer.alloc(0)))
        if (field === number && value.length)
            return textOf(value);
    return null;
};

// --- the engine ----------------------------------------------------------------------------------------------
// Modules by their size: compiled once, for all engines.
const modules = new Map();

class Engine {
    constructor(folder, wasm32) {
        const channel = new MessageChannel();
        this.worker = new Worker(path.join(__dirname, 'engine.js'), { workerData: { folder, wasm32, modules } });
        this.worker.on('error', (error) => fail(`the engine failed: ${error.stack || error}`));
        this.worker.on('message', (message) => {
            if (message.module)
                modules.set(message.size, message.module);
            else
                this.giveHeap(message.heap);
        });
        this.worker.postMessage(channel.port2, [channel.port2]);
        this.port = channel.port1;
        this.port.on('message', (bytes) => this.take(bytes));
        this.rest = Buffer.alloc(0);
        this.sequence = 0;
        this.answers = [];
        this.wanted = null;
    }
    // Answers are framed as a field of bytes each, and may come in pieces.
    take(bytes) {
        this.rest = this.rest.length ? Buffer.concat([this.rest, bytes]) : Buffer.from(bytes);
        for (;;) {
            const reader = new Reader(this.rest);
            let value;
            try {
                if (!reader.more)
                    break;
                value = reader.field()[1];
            } catch (error) {
                if (error instanceof RangeError)
                    break;
                throw error;
            }
            const answer = new Map(fieldsOf(value));
            this.rest = this.rest.subarray(reader.at);
            if (answer.has(FIELD.fatal))
                fail(`the engine refused: ${textOf(answer.get(FIELD.fatal))}`);
            this.answers.push(answer);
        }
        if (this.wanted && this.answers.length) {
            const wanted = this.wanted;
            this.wanted = null;
            wanted();
        }
    }
    async answer() {
        while (!this.answers.length)
            await new Promise((done) => { this.wanted = done; });
        return this.answers.shift();
    }
    send(method, ...more) {
        const request = Buffer.concat([numberField(FIELD.sequence, this.sequence++), numberField(FIELD.request, method),
            ...more]);
        this.port.postMessage(new Uint8Array(bytesField(FIELD.message, request)));
    }
    // The module has been compiled and has started.
    async started() {
        this.send(METHOD.status);
        await this.answer();
    }
    async append(bytes) {
        this.send(METHOD.append, bytesField(FIELD.appendData, bytes));
        return errorOf((await this.answer()).get(FIELD.appendResult), 2);
    }
    async finish() {
        this.send(METHOD.finalize);
        return errorOf((await this.answer()).get(FIELD.finalizeResult), 1);
    }
    heap() {
        return new Promise((done) => {
            this.giveHeap = done;
            this.worker.postMessage('heap');
        });
    }
    end() {
        return this.worker.terminate();
    }
    // take(columns, row) is called for each row.  out: [columns, error]
    async query(sql, take) {
        this.send(METHOD.query, bytesField(FIELD.queryArgs, bytesField(1, Buffer.from(sql))));
        const columns = [];
        let error = null, row = [];
        for (let isLast = false; !isLast;) {
            const result = (await this.answer()).get(FIELD.queryResult);
            for (const [field, value] of fieldsOf(result)) {
                if (field === 1) {
                    columns.push(textOf(value));
                } else if (field === 2) {
                    error = textOf(value);
                } else if (field === 3) {
                    const batch = batchOf(value);
                    isLast = isLast || batch.isLast;
                    for (const cell of batch.cells) {
                        row.push(cell);
                        if (row.length === columns.length) {
                            take(columns, row);
                            row = [];
                        }
                    }
                }
            }
            isLast = isLast || error !== null;
        }
        return [columns, error];
    }
}

function batchOf(bytes) {
    const found = { kinds: [], wholes: [], reals: [], texts: [], isLast: false };
    for (const [field, value] of fieldsOf(bytes)) {
        if (field === 1)
            found.kinds = varintsOf(value);
        else if (field === 2)
            found.wholes = varintsOf(value);
        else if (field === 3)
            for (let at = 0; at < value.length; at += 8)
                found.reals.push(new DataView(value.buffer, value.byteOffset + at, 8).getFloat64(0, true));
        else if (field === 5)
            found.texts = textOf(value).split('\0');
        else if (field === 6)
            found.isLast = Boolean(value);
    }
    let whole = 0, real = 0, text = 0;
    const cells = found.kinds.map((kind) => {
        switch (kind) {
        case CELL.whole: return found.wholes[whole++];
        case CELL.real: return found.reals[real++];
        case CELL.text: return found.texts[text++];
        case CELL.blob: return '(blob)';
        default: return null;
        }
    });
    return { cells, isLast: found.isLast };
}

// --- what is said ---------------------------------------------------------------------------------------------
const said = [];
function say(line) {
    said.push(line);
    if (said.length >= 4096)
        flush();
}

function flush() {
    let bytes = Buffer.from(said.length ? `${said.join('\n')}\n` : '');
    said.length = 0;
    while (bytes.length) {
        try {
            bytes = bytes.subarray(fs.writeSync(1, bytes));
        } catch (error) {
            if (error.code !== 'EAGAIN')
                throw error;
        }
    }
}

function fail(why) {
    flush();
    fs.writeSync(2, `importer: ${why}\n`);
    process.exit(1);
}

// NaN and the infinities as Python's reader takes them.
const cellText = (cell) => typeof cell === 'string' ? JSON.stringify(cell) : String(cell);

async function importTrace(engine, trace) {
    const began = process.hrtime.bigint(), file = fs.openSync(trace, 'r'), chunk = Buffer.alloc(CHUNK_BYTES);
    let total = 0, error = null;
    for (let size; error === null && (size = fs.readSync(file, chunk)) > 0; total += size)
        error = await engine.append(chunk.subarray(0, size));
    fs.closeSync(file);
    error = error ?? await engine.finish();
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    say(JSON.stringify({ bytes: total, seconds, heap: await engine.heap(), error }));
    return error === null;
}

async function answer(folder, { trace, seconds, wasm32, queries }) {
    const late = setTimeout(() => { // the engine has a thread of its own: this one is never busy for long
        flush();
        fs.writeSync(2, `importer: no end after ${seconds} s\n`);
        process.exit(LATE);
    }, seconds * 1000);
    const engine = new Engine(folder, wasm32);
    await engine.started();
    for (const sql of await importTrace(engine, trace) ? queries : []) {
        const rows = [];
        const [columns, wrong] = await engine.query(sql, (_, row) => rows.push(`[${row.map(cellText).join(',')}]`));
        say(JSON.stringify({ columns, error: wrong }));
        rows.forEach(say);
        say('null');
    }
    await engine.end();
    clearTimeout(late);
    flush();
}

async function main() {
    for await (const line of readline.createInterface({ input: process.stdin }))
        await answer(process.argv[2], JSON.parse(line));
    process.exit(0);
}

main().catch((error) => fail(error.stack || String(error)));
