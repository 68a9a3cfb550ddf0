// SPDX-License-Identifier: Apache-2.0
// Opens a trace in the real Perfetto UI in a browser without a window, and tells what is to be seen.
//
//     ui.js BROWSER FOLDER HOME TRACE SECONDS PICTURE
//
// FOLDER is the UI's: it holds index.html and the folder of its version.  HOME is the browser's own.  stdout: one
// JSON object {"title", "tracks": the names of the rows, "errors": what a dialog or the status bar complains of,
// "seconds"}.  A picture of it goes to PICTURE. After SECONDS it ends with 124.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { spawn } = require('child_process');

const [browser, folder, home, trace, seconds, picture] = process.argv.slice(2);
const LATE = 124, END_MS = 3000;
const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html', '.css': 'text/css',
    '.json': 'application/json' };
const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
    '--disable-extensions', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--disable-quic', '--window-size=1600,4000', '--remote-debugging-pipe', 'about:blank'];
const TRACE_NAME = '/trace-under-test';

// What stands on the page.  Groups are opened as they are found: rows inside are not there before.
const LOOK = `(() => {
    const texts = (selector) => Array.from(document.querySelectorAll(selector)).map((e) => e.textContent.trim());
    const folded = Array.from(document.querySelectorAll('.pf-track__header')).filter(
        (header) => header.querySelector('.pf-track__collapse-button')?.textContent.includes('expand_more'));
    for (const header of folded)
        header.querySelector('.pf-track__shell').click();
    return JSON.stringify({
        title: document.title,
        tracks: texts('.pf-track__title-popup'),
        dialogs: texts('.pf-modal-dialog'),
        errors: texts('.pf-topbar__error-box').map(() => 'import errors'),
    });
})()`;

function serve() {
    const server = http.createServer((request, response) => {
        const name = decodeURIComponent(request.url.split('?')[0]);
        const page = path.posix.normalize(name === '/' ? '/index.html' : name);
        const file = name === TRACE_NAME ? trace : path.join(folder, page);
        fs.readFile(file, (error, bytes) => {
            if (error) {
                response.writeHead(404);
                response.end();
                return;
            }
            response.writeHead(200, { 'content-type': TYPES[path.extname(file)] || 'application/octet-stream',
                'cache-control': 'no-store' });
            response.end(bytes);
        });
    });
    return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

// The browser's own protocol over two pipes: texts of JSON, each ended by a zero byte.
class Browser {
    constructor(home) {
        this.process = spawn(browser, [`--user-data-dir=${home}`, ...FLAGS],
            { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
        this.number = 0;
        this.waiting = new Map();
        let rest = '';
        this.process.stdio[4].setEncoding('utf8');
        this.process.stdio[4].on('data', (text) => {
            const parts = (rest + text).split('\0');
            rest = parts.pop();
            parts.forEach((part) => this.take(JSON.parse(part)));
        });
    }
    take(message) {
        const done = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (done)
            done(message.result || {});
    }
    send(method, params = {}) {
        const id = ++this.number;
        this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
        return new Promise((done) => this.waiting.set(id, done));
    }
    async open() {
        const { targetInfos } = await this.send('Target.getTargets');
        const page = targetInfos.find((t) => t.type === 'page');
        this.session = (await this.send('Target.attachToTarget', { targetId: page.targetId, flatten: true })).sessionId;
    }
    async evaluate(expression) {
        const given = { expression, awaitPromise: true, returnByValue: true };
        return (await this.send('Runtime.evaluate', given)).result?.value;
    }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Until the same rows stood there three times, or something complains.
async function watch(page, began) {
    let before = '', same = 0;
    for (;;) {
        await pause(300);
        const text = await page.evaluate(LOOK);
        if (!text)
            continue;
        const seen = JSON.parse(text);
        same = text === before && (seen.tracks.length || seen.dialogs.length) ? same + 1 : 0;
        before = text;
        if (same >= 3)
            return { title: seen.title, tracks: seen.tracks, errors: seen.dialogs.concat(seen.errors),
                seconds: (Date.now() - began) / 1000 };
    }
}

async function main() {
    const server = await serve();
    const page = new Browser(home);
    const end = (status) => {
        page.process.once('exit', () => process.exit(status));
        setTimeout(() => page.process.kill('SIGKILL'), END_MS);
        page.send('Browser.close');
    };
    setTimeout(() => {
        process.stderr.write(`ui: no end after ${seconds} s\n`);
        end(LATE);
    }, Number(seconds) * 1000);
    await page.open();
    const began = Date.now(), place = `http://127.0.0.1:${server.address().port}`;
    await page.send('Page.navigate', { url: `${place}/#!/?url=${place}${TRACE_NAME}` });
    const seen = await watch(page, began);
    const { data } = await page.send('Page.captureScreenshot', { format: 'png' });
    if (data)
        fs.writeFileSync(picture, Buffer.from(data, 'base64'));
    process.stdout.write(`${JSON.stringify(seen)}\n`);
    end(0);
}

main().catch((error) => {
    process.stderr.write(`ui: ${error.stack || error}\n`);
    process.exit(1);
});
