// SPDX-License-Identifier: Apache-2.0
// One field that looks into all tables: how many have it, and from one to the next.

const TYPING_MS = 120;

function isTyped(event) {
    return event.target.closest('input, select, textarea, [contenteditable]') !== null;
}

// The first row with the words, of each table that has one.
function findInTables(words) {
    if (words.length === 0)
        return [];
    return all('main table').map((table) => bodyRows(table).find((row) => rowHas(row, words))).filter(Boolean);
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
        this.hits = findInTables(words);
        this.at = -1;
        this.tell(words.length > 0);
    }
    tell(isAsked) {
        const count = this.hits.length;
        const place = this.at >= 0 ? `${this.at + 1} of ` : 'in ';
        this.told.textContent = isAsked ? `${place}${count} table${count === 1 ? '' : 's'}` : '';
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
    const field = makeSearchField('Find in tables: /', 'Find in all tables; Enter goes to the next one');
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
}
