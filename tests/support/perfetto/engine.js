// SPDX-License-Identifier: Apache-2.0
// The thread on which Perfetto's engine runs: what its bundle expects of a browser's worker, put in place of what Node
// has.  workerData: {folder: of the bundle, wasm32: refuse 64 bits, modules: compiled before, by their size}.  Messages from
// the parent: the port of the engine, then "heap", answered with {heap: bytes of the module's memory}.  A module that is
// compiled here is given to the parent: {module, size}.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { parentPort, workerData } = require('worker_threads');

const PROBE_BYTES = 64; // the bundle compiles a module of some 20 bytes to see whether there are 64 bits
let memory = null;

function fileBytes(name) {
    const bytes = fs.readFileSync(path.join(workerData.folder, path.basename(name)));
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

// The module is fetched synchronously, by its name.
class LocalRequest {
    open(_method, name) { this.name = name; }
    send() {
        this.response = fileBytes(this.name);
        this.status = 200;
    }
}

const { Module, Instance, Memory } = WebAssembly;
WebAssembly.Module = function (bytes) {
    if (workerData.wasm32 && bytes.byteLength < PROBE_BYTES && bytes[8] === 5) // a memory section, and nothing before
        throw new WebAssembly.CompileError('64 bits are not wanted');
    const size = bytes.byteLength, module = workerData.modules.get(size) || new Module(bytes);
    if (size >= PROBE_BYTES && !workerData.modules.has(size))
        parentPort.postMessage({ module, size });
    return module;
};
WebAssembly.Instance = function (module, imports) {
    const instance = new Instance(module, imports);
    memory = Object.values(instance.exports).find((e) => e instanceof Memory) || memory;
    return instance;
};

const quiet = () => {};
const scope = { location: { href: 'http://localhost/' } };
const given = {
    self: scope, location: scope.location, XMLHttpRequest: LocalRequest, importScripts: quiet,
    WorkerGlobalScope: Object, process: undefined,
    console: { log: quiet, info: quiet, debug: quiet, warn: quiet, error: quiet },
};
for (const [name, value] of Object.entries(given))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

vm.runInThisContext(fs.readFileSync(path.join(workerData.folder, 'engine_bundle.js'), 'utf8'));
parentPort.on('message', (message) => {
    if (message === 'heap') {
        parentPort.postMessage({ heap: memory ? memory.buffer.byteLength : 0 });
        return;
    }
    // A port gives its messages once someone listens; the engine can take them when its module has started, which is a
    // promise's turn away.
    setTimeout(() => scope.onmessage({ data: message }), 10);
});
