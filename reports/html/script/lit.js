// SPDX-License-Identifier: Apache-2.0
// Within a section, a table row and the chart marks with its name highlight each other.

// "step 3" of "step 3, compute: 2.1 ms of 4 ms", if a row has that name.
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

// Maps each mark to its row and each row to its marks; computed when the pointer first enters a section.
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
