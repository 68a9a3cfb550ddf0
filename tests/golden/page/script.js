(() => {
'use strict';
function all(selector, inside = document) {
return Array.from(inside.querySelectorAll(selector));
}
function make(tag, attributes, ...content) {
const element = document.createElement(tag);
for (const [name, value] of Object.entries(attributes))
element.setAttribute(name, value);
element.append(...content);
return element;
}
function makeButton(kind, label, whenPressed) {
const button = make('button', { type: 'button', class: kind }, label);
button.addEventListener('click', whenPressed);
return button;
}
function makeSearchField(placeholder, label) {
const facts = { type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder, 'aria-label': label };
return make('input', facts);
}
const status = make('p', { class: 'unseen', role: 'status' });
function say(text) {
status.textContent = text;
}
function textOf(cell) {
return (cell.querySelector('.full') || cell).textContent.trim();
}
function nameOf(table) {
return (table.closest('figure')?.querySelector('figcaption') || table.caption)?.textContent || 'this table';
}
function bodyRows(table) {
return Array.from(table.tBodies).flatMap((body) => Array.from(body.rows));
}
const rowTexts = new WeakMap();
function rowText(row) {
if (!rowTexts.has(row))
rowTexts.set(row, Array.from(row.cells, textOf).join(' ').toLowerCase());
return rowTexts.get(row);
}
function wordsOf(text) {
return text.toLowerCase().split(/\s+/).filter(Boolean);
}
function rowHas(row, words) {
return words.every((word) => rowText(row).includes(word));
}
const view = new URLSearchParams(location.hash.split('~')[1] ?? '');
function anchorOf(hash) {
return decodeURIComponent(hash.slice(1).split('~')[0]);
}
function writeView() {
const state = view.toString();
const address = `#${encodeURIComponent(anchorOf(location.hash))}${state ? `~${state}` : ''}`;
if (address === location.hash || (address === '#' && location.hash === ''))
return;
try {
window.history.replaceState(null, '', address);
} catch {
}
}
function keepView(key, value) {
if (value === '')
view.delete(key);
else
view.set(key, value);
writeView();
}
function makeViewStay() {
window.addEventListener('hashchange', () => {
if (!location.hash.includes('~'))
writeView();
});
}
const NATURAL = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const NO_VALUE = ['', '\u2013'];
function sortKey(row, column) {
const cell = row.cells[column];
if (!cell)
return null;
if (cell.dataset.v !== undefined && !Number.isNaN(Number(cell.dataset.v)))
return Number(cell.dataset.v);
const text = textOf(cell);
return NO_VALUE.includes(text) ? null : text;
}
function compareKeys(a, b, sign) {
if (a === null || b === null)
return (a === null) - (b === null);
if (typeof a === 'number' && typeof b === 'number')
return sign * (a - b);
return sign * NATURAL.compare(a, b);
}
function sortRows(rows, column, direction) {
if (!direction)
return rows;
const sign = direction === 'ascending' ? 1 : -1;
return rows.map((row) => [sortKey(row, column), row])
.sort((a, b) => compareKeys(a[0], b[0], sign))
.map((pair) => pair[1]);
}
function nextDirection(header) {
const turns = header.classList.contains('n') ? ['descending', 'ascending'] : ['ascending', 'descending'];
return turns[turns.indexOf(header.getAttribute('aria-sort')) + 1];
}
function makeSortable(table, key) {
const body = table.tBodies[0];
const headers = all('thead th', table);
const asWritten = body ? Array.from(body.rows) : [];
if (asWritten.length < 2)
return;
const kept = (view.get(key) ?? '').match(/^(\d+)(a|d)$/);
function sortBy(header, column, direction) {
headers.forEach((other) => other.removeAttribute('aria-sort'));
if (direction)
header.setAttribute('aria-sort', direction);
body.append(...sortRows(asWritten, column, direction));
keepView(key, direction ? `${column}${direction[0]}` : '');
}
headers.forEach((header, column) => {
const button = makeButton('sort', header.textContent, () => {
const direction = nextDirection(header);
sortBy(header, column, direction);
say(direction ? `Sorted by ${button.textContent}, ${direction}` : 'In the first order again');
});
const term = header.querySelector('[title]');
if (term)
button.title = term.title;
header.replaceChildren(button);
});
if (kept && headers[Number(kept[1])])
sortBy(headers[Number(kept[1])], Number(kept[1]), kept[2] === 'a' ? 'ascending' : 'descending');
}
const CHOICES_MOST = 500;
function choicesOf(title, text) {
if (text === '' || text === '–')
return [];
const labels = [];
let rest = text;
while (rest !== '') {
const [whole, name, value] = rest.match(/^([\w.-]+)=("(?:[^"\\]|\\.)*"|[^ "]+)(?: |$)/) ?? [];
if (whole === undefined)
return [[title, text]];
labels.push([name, value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value]);
rest = rest.slice(whole.length);
}
return labels;
}
function choicesOfTable(table) {
const found = new Map();
const rows = bodyRows(table);
for (const header of all('thead th[data-choice]', table)) {
const title = header.textContent.trim().toLowerCase();
for (const row of rows) {
for (const [name, value] of choicesOf(title, textOf(row.cells[header.cellIndex]))) {
const values = found.get(name) ?? found.set(name, new Map()).get(name);
values.set(value, (values.get(value) ?? new Set()).add(row));
}
}
}
return found;
}
function makeChoice(table, name, values) {
const choice = make('select', { class: 'choice', autocomplete: 'off', 'aria-label': `Filter by ${name}: ${nameOf(table)}` });
choice.append(make('option', { value: '' }, `${name}: all`));
for (const value of Array.from(values.keys()).sort())
choice.append(make('option', { value }, `${name}: ${value} (${values.get(value).size})`));
return choice;
}
function makeChoices(table, key) {
const count = bodyRows(table).length;
return Array.from(choicesOfTable(table))
.filter(([, values]) => values.size <= CHOICES_MOST && Array.from(values.values()).some((rows) => rows.size < count))
.map(([name, values]) => ({ select: makeChoice(table, name, values), values, key: `${key}.${name}` }));
}
function makeFilter(table, key, tools) {
const field = makeSearchField('Filter rows', `Filter rows of: ${nameOf(table)}`);
const found = make('span', { class: 'found-count', role: 'status' });
const fold = table.closest('figure')?.querySelector('.unfold input');
const choices = makeChoices(table, key);
let isUnfoldedHere = false;
function filter() {
const words = wordsOf(field.value);
const chosen = choices.filter(({ select }) => select.value !== '');
const isFiltered = words.length + chosen.length > 0;
const rows = bodyRows(table);
let hits = 0;
for (const row of rows) {
row.hidden = !rowHas(row, words) || !chosen.every(({ select, values }) => values.get(select.value).has(row));
hits += !row.hidden;
}
if (fold && (isFiltered ? !fold.checked : isUnfoldedHere))
fold.checked = isUnfoldedHere = isFiltered;
found.textContent = isFiltered ? `${hits} of ${rows.length} rows` : '';
keepView(key, field.value.trim());
for (const choice of choices)
keepView(choice.key, choice.select.value);
}
field.addEventListener('input', filter);
for (const { select, values, key: at } of choices) {
select.addEventListener('change', filter);
if (values.has(view.get(at)))
select.value = view.get(at);
}
field.value = view.get(key) ?? '';
if (view.has(key) || choices.some(({ select }) => select.value !== ''))
filter();
tools.append(field, ...choices.map(({ select }) => select), found);
}
function hideColumns(table, hidden) {
for (const row of table.rows) {
Array.from(row.cells).forEach((cell, column) => { cell.hidden = hidden.has(column); });
}
}
function makeColumnChoice(table, key, tools) {
const headers = all('thead th', table);
const hidden = new Set((view.get(key) ?? '').split('.').filter(Boolean).map(Number));
if (headers.length < 3)
return;
const choices = headers.slice(1).map((header, at) => {
const box = make('input', { type: 'checkbox', autocomplete: 'off' });
box.checked = !hidden.has(at + 1);
box.addEventListener('change', () => {
hidden[box.checked ? 'delete' : 'add'](at + 1);
hideColumns(table, hidden);
keepView(key, Array.from(hidden).sort((a, b) => a - b).join('.'));
});
return make('label', {}, box, ` ${header.textContent.trim()}`);
});
const list = make('div', { class: 'choices' }, ...choices);
const menu = make('details', { class: 'columns' }, make('summary', {}, 'Columns'), list);
menu.addEventListener('keydown', (event) => {
if (event.key === 'Escape' && menu.open) {
menu.open = false;
menu.firstChild.focus();
}
});
menu.addEventListener('focusout', (event) => {
if (event.relatedTarget && !menu.contains(event.relatedTarget))
menu.open = false;
});
if (hidden.size > 0)
hideColumns(table, hidden);
tools.append(menu);
}
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
}
area.remove();
focused?.focus();
return isDone;
}
async function copyText(text) {
try {
await navigator.clipboard.writeText(text);
return true;
} catch {
return copyBySelection(text);
}
}
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
function csvOf(table) {
const titles = all('thead th', table).map(csvTitle);
const rows = bodyRows(table).map((row) => Array.from(row.cells, csvCell));
return [titles, ...rows].map((fields) => `${fields.join(',')}\r\n`).join('');
}
function markdownCell(cell) {
const text = textOf(cell).replace(/\s+/g, ' ');
if (!text || !cell.matches('.name, .id, .tree'))
return text.replace(/[\\`*_|<>[\]@#~$]/g, '\\$&');
const ticks = '`'.repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length)) + 1);
const padded = text.startsWith('`') || text.endsWith('`') ? ` ${text} ` : text;
return `${ticks}${padded.replaceAll('|', '\\|')}${ticks}`;
}
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
function addressOf(id) {
return `${location.href.split('#')[0]}#${id}`;
}
function makeAnchor(heading, id) {
const name = heading.textContent.trim();
const link = make('a', { class: 'anchor', href: `#${id}`, 'aria-label': `Copy the link to: ${name}` });
link.addEventListener('click', async () => {
say(await copyText(addressOf(id)) ? 'Link copied' : 'The link is in the address bar');
});
heading.append(link);
}
function makeAnchors() {
for (const part of all('main section[id], main article[id], figure[id]')) {
const heading = part.querySelector(':scope > :is(h2, h3, figcaption)');
if (heading && (heading.localName !== 'figcaption' || part.matches('.table')))
makeAnchor(heading, part.id);
}
}
function reveal(element) {
for (let part = element; part; part = part.parentElement) {
if (part.localName === 'details')
part.open = true;
}
const closing = element.querySelector(':scope > details.closing');
if (closing)
closing.open = true;
const row = element.closest('tbody tr');
const fold = row?.closest('figure')?.querySelector('.unfold input');
if (row)
row.hidden = false;
if (fold && row.offsetParent === null)
fold.checked = true;
}
function targetOf(address) {
const id = anchorOf(address);
return id ? document.getElementById(id) : null;
}
function revealTarget() {
const target = targetOf(location.hash);
if (target && (target.offsetParent === null || target.querySelector(':scope > details.closing:not([open])'))) {
reveal(target);
target.scrollIntoView();
}
}
function makeTargetsOpen() {
let openedForPaper = [];
window.addEventListener('hashchange', revealTarget);
document.addEventListener('click', (event) => {
const link = event.target.closest('a[href^="#"]');
if (link && anchorOf(link.hash) === anchorOf(location.hash))
revealTarget();
});
window.addEventListener('beforeprint', () => {
openedForPaper = all('details:not([open], .twin)').filter((part) => !part.closest('table'));
openedForPaper.forEach((part) => { part.open = true; });
});
window.addEventListener('afterprint', () => {
openedForPaper.forEach((part) => { part.open = false; });
});
revealTarget();
}
const TYPING_MS = 120;
function isTyped(event) {
return event.target.closest('input, select, textarea, [contenteditable]') !== null;
}
const PLACES = '.top .verdict, .top li, .top .facts > div, main tbody tr, main p, main li, main .facts > div, main h2, main h3, main figcaption';
let places = null;
function allPlaces() {
places ??= all(PLACES).filter((part) => !part.parentElement.closest('tbody tr, .page-tools') && !part.closest('.unfold'))
.filter((part) => part.localName !== 'li' || !part.querySelector('tbody tr'))
.map((part) => [part, (part.localName === 'tr' ? rowText(part) : part.textContent.toLowerCase()).replaceAll('\u00a0', ' ')]);
return places;
}
function findPlaces(words) {
if (words.length === 0)
return [];
return allPlaces().filter(([, text]) => words.every((word) => text.includes(word))).map(([part]) => part);
}
class Finder {
constructor(field, told) {
this.field = field;
this.told = told;
this.hits = [];
this.at = -1;
}
look() {
const words = wordsOf(this.field.value);
this.unmark();
this.hits = findPlaces(words);
keepView('q', this.field.value.trim());
this.at = -1;
this.tell(words.length > 0);
}
tell(isAsked) {
const count = this.hits.length;
const place = this.at >= 0 ? `${this.at + 1} of ` : '';
this.told.textContent = isAsked ? `${place}${count} place${count === 1 ? '' : 's'}` : '';
}
unmark() {
this.hits[this.at]?.classList.remove('found');
}
go(by) {
if (this.hits.length === 0)
return;
this.unmark();
this.at = (Math.max(this.at, by > 0 ? -1 : 0) + by + this.hits.length) % this.hits.length;
const row = this.hits[this.at];
reveal(row);
row.classList.add('found');
row.scrollIntoView({ block: 'center' });
this.tell(true);
}
}
function makeFinder(tools) {
const field = makeSearchField('Find: /', 'Find in findings, tables and notes; Enter goes to the next place');
const told = make('span', { class: 'found-count', role: 'status' });
const finder = new Finder(field, told);
let timer = 0, looked = '';
field.setAttribute('aria-keyshortcuts', '/');
const lookNow = () => {
clearTimeout(timer);
if (field.value !== looked) {
looked = field.value;
finder.look();
}
};
field.addEventListener('input', () => {
clearTimeout(timer);
timer = setTimeout(lookNow, TYPING_MS);
});
field.addEventListener('keydown', (event) => {
if (event.key !== 'Enter')
return;
event.preventDefault();
lookNow();
finder.go(event.shiftKey ? -1 : 1);
});
document.addEventListener('keydown', (event) => {
if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyped(event)) {
event.preventDefault();
field.focus();
}
});
tools.append(field, told);
if (view.has('q')) {
field.value = view.get('q');
lookNow();
}
}
const TIP_GAP = 12, TIP_EDGE = 8, TIP_HIDE_MS = 150;
const KEY_STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };
const tip = make('div', { class: 'tooltip', id: 'tooltip', role: 'tooltip', hidden: '' });
const tipTexts = new WeakMap();
let tipOwner = null, tipTimer = 0;
function tipOwnerAt(element) {
for (let part = element; part; part = part.parentElement) {
if (tipTexts.has(part))
return part;
}
return null;
}
function placeTip(x, y) {
const box = tip.getBoundingClientRect();
const root = document.documentElement;
const fitsBelow = y + TIP_GAP + box.height < root.clientHeight - TIP_EDGE;
const left = Math.min(x + TIP_GAP, root.clientWidth - box.width - TIP_EDGE);
tip.style.left = `${Math.max(left, TIP_EDGE)}px`;
tip.style.top = `${Math.max(fitsBelow ? y + TIP_GAP : y - TIP_GAP - box.height, TIP_EDGE)}px`;
}
function hideTip() {
clearTimeout(tipTimer);
tipOwner?.removeAttribute('aria-describedby');
tipOwner = null;
tip.hidden = true;
}
function placeBelow(owner) {
const box = owner.getBoundingClientRect();
placeTip(box.left - TIP_GAP, box.bottom - TIP_GAP / 2);
}
function showTip(owner) {
hideTip();
tipOwner = owner;
tip.textContent = tipTexts.get(owner);
tip.hidden = false;
owner.setAttribute('aria-describedby', 'tooltip');
placeBelow(owner);
}
function onPointer(event) {
const owner = tip.contains(event.target) ? tipOwner : tipOwnerAt(event.target);
if (owner === null && tipOwner === null)
return;
clearTimeout(tipTimer);
if (owner === null)
tipTimer = setTimeout(hideTip, TIP_HIDE_MS);
else if (owner !== tipOwner)
showTip(owner);
if (owner?.ownerSVGElement && !tip.contains(event.target))
placeTip(event.clientX, event.clientY);
}
function onScroll() {
const focused = document.activeElement;
if (tipOwner && (focused === tipOwner || focused === tipOwner.ownerSVGElement))
placeBelow(tipOwner);
else
hideTip();
}
function makeMarksReachable(svg, marks) {
let at = -1;
svg.setAttribute('tabindex', '0');
svg.addEventListener('keydown', (event) => {
const step = KEY_STEPS[event.key];
if (step === undefined || event.ctrlKey || event.metaKey || event.altKey)
return;
event.preventDefault();
at = Math.min(Math.max(at + step, 0), marks.length - 1);
showTip(marks[at]);
say(tip.textContent);
});
}
function takeTitle(title) {
const mark = title.parentNode;
tipTexts.set(mark, title.textContent);
title.remove();
return mark;
}
function makeTips() {
for (const element of all('[title]')) {
tipTexts.set(element, element.title);
element.removeAttribute('title');
}
for (const svg of all('svg')) {
const marks = all('g > title', svg).map(takeTitle);
if (marks.length > 0)
makeMarksReachable(svg, marks);
}
document.body.append(tip);
document.addEventListener('pointermove', onPointer);
document.addEventListener('focusin', (event) => {
if (tipTexts.has(event.target))
showTip(event.target);
});
document.addEventListener('focusout', hideTip);
document.addEventListener('scroll', onScroll, { passive: true });
document.addEventListener('keydown', (event) => {
if (event.key === 'Escape')
hideTip();
});
}
function rowOfMark(mark, rows) {
const text = tipTexts.get(mark) ?? '';
let best = null, length = 0;
for (const row of rows) {
const name = textOf(row.cells[0]);
const isIts = name.length > length && text.startsWith(name) && /^([,:]|$)/.test(text.slice(name.length));
if (isIts) {
best = row;
length = name.length;
}
}
return best;
}
const pairs = new WeakMap();
function pairsOf(part) {
const place = part.closest('section, .top');
if (!place)
return null;
if (!pairs.has(place)) {
const rows = all('.drawing tbody tr, figure.table tbody tr', place).filter((row) => row.cells.length > 0);
const rowOf = new Map(), marksOf = new Map();
const marks = all('.drawing svg g', place).filter((mark) => tipTexts.has(mark));
for (const mark of marks) {
const figure = mark.closest('figure');
const row = rowOfMark(mark, rows.filter((other) => other.closest('figure') === figure)) ?? rowOfMark(mark, rows);
if (!row)
continue;
rowOf.set(mark, row);
for (const alike of rows.filter((other) => textOf(other.cells[0]) === textOf(row.cells[0])))
marksOf.set(alike, [...(marksOf.get(alike) ?? []), mark]);
}
pairs.set(place, { rowOf, marksOf });
}
return pairs.get(place);
}
let lit = [];
function light(parts) {
lit.forEach((part) => part.classList.remove('lit'));
lit = parts;
lit.forEach((part) => part.classList.add('lit'));
}
function lightOf(target) {
const mark = target.closest?.('.drawing svg g'), row = target.closest?.('tbody tr');
const found = mark || row ? pairsOf(target) : null;
if (mark && found)
light([mark, found.rowOf.get(mark)].filter(Boolean));
else if (row && found)
light(found.marksOf.get(row) ?? []);
else if (lit.length > 0)
light([]);
}
function makeRowsAndMarksMeet() {
document.addEventListener('pointerover', (event) => lightOf(event.target));
document.addEventListener('focusin', (event) => lightOf(event.target));
}
function plotOf(svg) {
const count = Number(svg.dataset.columns), left = Number(svg.dataset.left);
return { count, left, pitch: (svg.viewBox.baseVal.width - left) / count };
}
function zoomDrawing(svg, from, to) {
const plot = plotOf(svg);
const scale = plot.count / (to - from + 1), shift = plot.left - scale * (plot.left + from * plot.pitch);
const isIn = (x) => x > plot.left + from * plot.pitch - 0.01 && x < plot.left + (to + 1) * plot.pitch + 0.01;
for (const part of all(':scope > g, :scope > polygon', svg)) {
const box = part.getBBox();
part.classList.toggle('outside', !isIn(box.x + box.width / 2));
part.setAttribute('transform', `matrix(${scale} 0 0 1 ${shift} 0)`);
}
for (const label of all(':scope > text[text-anchor="middle"]', svg)) {
label.dataset.x ??= label.getAttribute('x');
label.classList.toggle('outside', !isIn(Number(label.dataset.x)));
label.setAttribute('x', scale * Number(label.dataset.x) + shift);
}
}
function columnAt(svg, clientX) {
const plot = plotOf(svg), box = svg.getBoundingClientRect();
const x = (clientX - box.left) * svg.viewBox.baseVal.width / box.width;
return Math.min(Math.max(Math.floor((x - plot.left) / plot.pitch), 0), plot.count - 1);
}
function makeList(label, names) {
return make('select', { 'aria-label': label, autocomplete: 'off' },
...names.map((name, at) => make('option', { value: String(at) }, name)));
}
function makeZoom(figure) {
const drawings = all('svg[data-columns]', figure);
const names = all('details.twin tbody tr', figure).map((row) => textOf(row.cells[0]));
const key = `z.${figure.id}`;
if (drawings.length === 0 || names.length < 4 || names.length !== plotOf(drawings[0]).count)
return;
const last = names.length - 1, first = makeList('From', names), end = makeList('To', names);
const whole = makeButton('all', 'All', () => zoom(0, last));
let pressedAt = -1;
function zoom(from, to) {
const [low, high] = from <= to ? [from, to] : [to, from];
first.value = String(low);
end.value = String(high);
whole.hidden = low === 0 && high === last;
drawings.forEach((svg) => { zoomDrawing(svg, low, high); });
keepView(key, whole.hidden ? '' : `${low}-${high}`);
say(whole.hidden ? 'All are shown' : `${names[low]} to ${names[high]} are shown`);
}
const choose = () => zoom(Number(first.value), Number(end.value));
first.addEventListener('change', choose);
end.addEventListener('change', choose);
for (const svg of drawings) {
svg.addEventListener('pointerdown', (event) => { pressedAt = whole.hidden ? columnAt(svg, event.clientX) : -1; });
svg.addEventListener('pointerup', (event) => {
const at = columnAt(svg, event.clientX);
if (pressedAt >= 0 && at !== pressedAt)
zoom(pressedAt, at);
pressedAt = -1;
});
svg.addEventListener('dblclick', () => zoom(0, last));
}
figure.querySelector('h3').after(make('div', { class: 'zoom' }, 'Show ', first, ' to ', end, ' ', whole));
const [from, to] = (view.get(key) ?? `0-${last}`).split('-').map(Number);
zoom(Math.min(Math.max(from || 0, 0), last), Math.min(Math.max(to || 0, 0), last));
status.textContent = '';
}
function makeZooms() {
all('.drawing').forEach(makeZoom);
}
const THEMES = ['auto', 'light', 'dark'];
const THEME_KEY = 'tracemill-theme';
function storedTheme() {
try {
return window.localStorage.getItem(THEME_KEY);
} catch {
return null;
}
}
function storeTheme(theme) {
try {
window.localStorage.setItem(THEME_KEY, theme);
} catch {
}
}
function showTheme(theme) {
if (theme === 'auto')
document.documentElement.removeAttribute('data-theme');
else
document.documentElement.dataset.theme = theme;
}
function makeThemeSwitch(tools) {
const options = THEMES.map((theme) => make('option', { value: theme }, theme[0].toUpperCase() + theme.slice(1)));
const choice = make('select', { 'aria-label': 'Colors', class: 'theme' }, ...options);
choice.value = THEMES.includes(storedTheme()) ? storedTheme() : 'auto';
showTheme(choice.value);
choice.addEventListener('change', () => {
showTheme(choice.value);
storeTheme(choice.value);
});
tools.append(choice);
}
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
function makeTableTools(table) {
const tools = make('div', { class: 'table-tools' });
const figure = table.closest('figure');
const id = figure.id.replace(/^table-/, '');
if (table.matches('[data-sortable]'))
makeSortable(table, `s.${id}`);
if (table.matches('[data-filter]'))
makeFilter(table, `f.${id}`, tools);
makeColumnChoice(table, `h.${id}`, tools);
makeMarkdownCopy(table, tools);
makeCsvCopy(table, tools);
(figure.querySelector('.scroll') || table).before(tools);
}
function makePageTools() {
const tools = make('div', { class: 'page-tools' });
makeFinder(tools);
makeThemeSwitch(tools);
const narrow = window.matchMedia('(max-width: 640px)');
const place = () => document.querySelector(narrow.matches ? 'main' : 'nav').prepend(tools);
narrow.addEventListener('change', place);
place();
}
document.body.append(status);
makePageTools();
all('figure.table table').forEach(makeTableTools);
all('code.copy').forEach(makeCodeCopy);
makeTraceLinks();
makeTips();
makeAnchors();
makeRowsAndMarksMeet();
makeZooms();
makeViewStay();
makeTargetsOpen();
})();
