// SPDX-License-Identifier: Apache-2.0
// From a finding to its place in the trace, and from a part of a split trace to Perfetto: sends a file that the reader
// selects, or drops onto the page, to Perfetto's tab inside the browser, with the messages of
// perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui.
// `tracemill open` has its own links.

const PERFETTO = 'https://ui.perfetto.dev';
const TRACE_FILE = /\.(pftrace|perfetto-trace|json)(\.gz)?$/i;
const PING_MS = 100;
const WAIT_MS = 60000;
const ABOUT_TRACE = 'You can also drop it onto this page. It goes to the Perfetto tab inside the browser; nothing is uploaded.';

const traceFiles = new Map(); // by name: those that the reader chose

function tellTrace(text) {
    all('.about-trace').forEach((note) => { note.textContent = `${text} Nothing is uploaded.`; });
    say(text);
}

function takeTraces(files) {
    const traces = Array.from(files).filter((one) => TRACE_FILE.test(one.name));
    traces.forEach((one) => { traceFiles.delete(one.name); traceFiles.set(one.name, one); });
    return traces;
}

function pickTraces() {
    const input = make('input', { type: 'file', accept: '.pftrace,.perfetto-trace,.json,.gz', multiple: '' });
    return new Promise((done) => {
        input.addEventListener('change', () => done(takeTraces(input.files)));
        input.addEventListener('cancel', () => done([]));
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

function placeOf(begin, end) {
    const room = (end - begin) / 4n + 1000n;
    return `visStart=${begin > room ? begin - room : 0n}&visEnd=${end + room}`;
}

// place: of the address; '' = the whole trace
async function openTrace(file, place) {
    const title = file.name;
    const target = window.open(`${PERFETTO}/#!/?${place}`, '_blank');
    if (!target) {
        tellTrace(`The browser blocked the new tab. Press Open in Perfetto again for ${title}, or allow pop-ups for this page.`);
        return;
    }
    try {
        const buffer = await file.arrayBuffer();
        await whenPerfettoListens(target);
        target.postMessage({ perfetto: { buffer, title, fileName: title, keepApiOpen: true, localOnly: true } }, PERFETTO, [buffer]);
        tellTrace(`${title} is in the Perfetto tab.`);
    } catch (problem) {
        tellTrace(`${problem.message} You can drop the trace onto ${PERFETTO} instead.`);
    }
}

function makeTraceLink(code) {
    const found = /where ts(?: - zero)? < (\d+) and ts(?: - zero)? \+ dur > (\d+)/.exec(code.textContent);
    if (!found)
        return false;
    code.parentElement.append(makeTraceButton(null, placeOf(BigInt(found[2]), BigInt(found[1]))));
    return true;
}

// name: the file that it opens; null: whichever was chosen last
function makeTraceButton(name, place) {
    const chosen = () => (name ? traceFiles.get(name) : Array.from(traceFiles.values()).pop());
    const button = makeButton('copy', 'Open in Perfetto', async () => {
        if (!chosen())
            await pickTraces();
        if (chosen())
            openTrace(chosen(), place);
        else if (traceFiles.size)
            tellTrace(`Choose ${name}, which is beside this page.`);
    });
    button.title = `Asks for ${name || 'trace.pftrace'}, which is beside this page. ${ABOUT_TRACE}`;
    return button;
}

function takeDrops() {
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
        event.preventDefault();
        const traces = takeTraces(event.dataTransfer.files);
        if (traces.length)
            tellTrace(`Open in Perfetto opens ${traces.map((one) => one.name).join(', ')}.`);
    });
}

// before: the element that it is explained above; what: is asked for
function explainTraceLinks(before, what) {
    before.before(make('p', { class: 'note about-trace' }, `Open in Perfetto asks for ${what}. ${ABOUT_TRACE}`));
    takeDrops();
}

function makeTraceLinks() {
    if (window.top !== window)
        return;
    const linked = all('ul.where code.copy').map((code) => makeTraceLink(code) && code).filter(Boolean);
    if (linked.length)
        explainTraceLinks(linked[0].closest('ul.where'), 'the trace: trace.pftrace beside this page, or one that you converted');
}
