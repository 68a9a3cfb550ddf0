// SPDX-License-Identifier: Apache-2.0
// Shared by the other parts: elements, texts of cells and rows, and announcements to screen readers.

function all(selector, inside = document) {
    return Array.from(inside.querySelectorAll(selector));
}

// Strings are inserted as text, never as markup.
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

// The full name if it is shown truncated.
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

// The lowercase text that searches match, computed once.
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
