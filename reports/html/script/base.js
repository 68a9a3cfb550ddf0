// SPDX-License-Identifier: Apache-2.0
// What the other parts share: elements, texts of cells and rows, and what a screen reader is told.

function all(selector, inside = document) {
    return Array.from(inside.querySelectorAll(selector));
}

// Text goes in as text: nothing here takes markup.
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

// Of a name that is shown cut: the whole.
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

// What a search looks into, in small letters; worked out once.
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
