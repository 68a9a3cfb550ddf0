// SPDX-License-Identifier: Apache-2.0
// One field that searches all text: findings, their evidence, every row of every table, notes.

const TYPING_MS = 120;

function isTyped(event) {
    return event.target.closest('input, select, textarea, [contenteditable]') !== null;
}

const PLACES = '.top .verdict, .top li, .top .facts > div, main tbody tr, main p, main li, main .facts > div, main h2, main h3, main figcaption';
let places = null;

// Each with its lowercase text, computed once; nested elements are not counted twice.
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
