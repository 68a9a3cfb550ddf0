// SPDX-License-Identifier: Apache-2.0
// From a finding to its place in the trace: sends a file that the reader selects, or drops onto the page, to Perfetto's
// tab inside the browser, with the messages of perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui.
// `tracemill open` has its own links.

const PERFETTO = 'https://ui.perfetto.dev';
const TRACE_FILE = /\.(pftrace|perfetto-trace|json)(\.gz)?$/i;
const PING_MS = 100;
const WAIT_MS = 60000;
const ABOUT_TRACE = 'Open in Perfetto asks for the trace: trace.pftrace beside this page, or one that you converted. ' +
    'You can also drop it onto this page. It goes to the Perfetto tab inside the browser; nothing is uploaded.';

let traceFile = null;

function tellTrace(text) {
    all('.about-trace').forEach((note) => { note.textContent = `${text} Nothing is uploaded.`; });
    say(text);
}

function pickTrace() {
    const input = make('input', { type: 'file', accept: '.pftrace,.perfetto-trace,.json,.gz' });
    return new Promise((done) => {
        input.addEventListener('change', () => done(input.files[0] || null));
        input.addEventListener('cancel', () => done(null));
        input.click();
    });
}

// Perfetto answers when it is ready.
function whenPerfettoListens(target) {
    return new Promise((done, fail) => {
        const end = Date.now() + WAIT_MS;
        const hear = (event) => {
            if (event.source === target && event.origin === PERFETTO && event.data === 'PONG')
                stop(done);
        };
        const asking = setInterval(() => {
            if (target.closed || Date.now() > end)
                stop(() => fail(new Error('Perfetto does not answer.')));
            else
                target.postMessage('PING', PERFETTO);
        }, PING_MS);
        const stop = (then) => {
            clearInterval(asking);
            window.removeEventListener('message', hear);
            then();
        };
        window.addEventListener('message', hear);
    });
}

async function openTrace(begin, end) {
    const room = (end - begin) / 4n + 1000n;
    const from = begin > room ? begin - room : 0n;
    const target = window.open(`${PERFETTO}/#!/?visStart=${from}&visEnd=${end + room}`, '_blank');
    if (!target) {
        tellTrace(`The browser blocked the new tab. Press Open in Perfetto again for ${traceFile.name}, or allow pop-ups for this page.`);
        return;
    }
    try {
        const buffer = await traceFile.arrayBuffer();
        await whenPerfettoListens(target);
        const title = traceFile.name;
        target.postMessage({ perfetto: { buffer, title, fileName: title, keepApiOpen: true, localOnly: true } }, PERFETTO, [buffer]);
        tellTrace(`${title} is in the Perfetto tab.`);
    } catch (problem) {
        tellTrace(`${problem.message} You can drop the trace onto ${PERFETTO} instead.`);
    }
}

function makeTraceLink(code) {
    const found = /where ts < (\d+) and ts \+ dur > (\d+)/.exec(code.textContent);
    if (!found)
        return false;
    const button = makeButton('copy', 'Open in Perfetto', async () => {
        traceFile ||= await pickTrace();
        if (traceFile)
            openTrace(BigInt(found[2]), BigInt(found[1]));
    });
    button.title = ABOUT_TRACE;
    code.parentElement.append(button);
    return true;
}

function takeDrops() {
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
        const file = Array.from(event.dataTransfer.files).find((one) => TRACE_FILE.test(one.name));
        event.preventDefault();
        if (!file)
            return;
        traceFile = file;
        tellTrace(`Open in Perfetto opens ${file.name}.`);
    });
}

function makeTraceLinks() {
    if (window.top !== window)
        return;
    const linked = all('ul.where code.copy').map((code) => makeTraceLink(code) && code).filter(Boolean);
    if (!linked.length)
        return;
    linked[0].closest('ul.where').before(make('p', { class: 'note about-trace' }, ABOUT_TRACE));
    takeDrops();
}
