// SPDX-License-Identifier: Apache-2.0
// Copies queries unchanged and tables as CSV (RFC 4180).

const SHOWN_MS = 1500;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function copyBySelection(text) {
    const area = make('textarea', { class: 'unseen', readonly: '' });
    const focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    let isDone = false;
    try {
        isDone = document.execCommand('copy');
    } catch {
        // the result reports it
    }
    area.remove();
    focused?.focus();
    return isDone;
}

// Some browsers deny clipboard access to pages opened as files.
async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return copyBySelection(text);
    }
}

// A button that copies what `give` returns; `orElse` is called if the browser does not allow it.
function makeCopyButton(label, give, orElse) {
    const button = makeButton('copy', label, async () => {
        const isDone = await copyText(give());
        if (!isDone)
            orElse();
        button.textContent = isDone ? 'Copied' : 'Not copied: press Ctrl+C';
        say(button.textContent);
        setTimeout(() => { button.textContent = label; }, SHOWN_MS);
    });
    return button;
}

function select(element) {
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.selectAllChildren(element);
}

function makeCodeCopy(code) {
    const label = code.closest('.where') ? 'Copy SQL' : 'Copy';
    const button = makeCopyButton(label, () => code.textContent, () => { code.classList.add('shown'); select(code); });
    button.setAttribute('aria-label', `${label} ${code.textContent}`);
    code.after(button);
}

// Text that a spreadsheet would interpret as a formula is prefixed with an apostrophe.
function csvField(text) {
    const safe = /^[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvCell(cell) {
    const text = cell.dataset.v === undefined ? textOf(cell) : cell.dataset.v;
    return csvField(NO_VALUE.includes(text) ? '' : text);
}

function csvTitle(header) {
    const unit = header.dataset.unit;
    return csvField(unit ? `${header.textContent.trim()} (${unit})` : header.textContent.trim());
}

// All rows, including hidden ones.
function csvOf(table) {
    const titles = all('thead th', table).map(csvTitle);
    const rows = bodyRows(table).map((row) => Array.from(row.cells, csvCell));
    return [titles, ...rows].map((fields) => `${fields.join(',')}\r\n`).join('');
}

// In Markdown, names are inline code, and special characters are escaped.
function markdownCell(cell) {
    const text = textOf(cell).replace(/\s+/g, ' ');
    if (!text || !cell.matches('.name, .id, .tree'))
        return text.replace(/[\\`*_|<>[\]@#~$]/g, '\\$&');
    const ticks = '`'.repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length)) + 1);
    const padded = text.startsWith('`') || text.endsWith('`') ? ` ${text} ` : text;
    return `${ticks}${padded.replaceAll('|', '\\|')}${ticks}`;
}

// What is visible, without hidden columns and rows.
function markdownOf(table) {
    const line = (cells) => `| ${cells.join(' | ')} |\n`;
    const shown = (row) => Array.from(row.cells).filter((cell) => !cell.hidden);
    const headers = shown(table.tHead.rows[0]);
    const rows = Array.from(table.rows).filter((row) => row.parentNode !== table.tHead && row.offsetParent !== null);
    return line(headers.map(markdownCell)) + line(headers.map((th) => (th.classList.contains('n') ? '---:' : '---')))
        + rows.map((row) => line(shown(row).map(markdownCell))).join('');
}

function makeMarkdownCopy(table, tools) {
    tools.append(makeCopyButton('Copy as Markdown', () => markdownOf(table), () => select(table)));
}

function makeCsvCopy(table, tools) {
    tools.append(makeCopyButton('Copy as CSV', () => csvOf(table), () => select(table)));
}
