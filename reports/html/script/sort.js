// SPDX-License-Identifier: Apache-2.0
// Sorts tables by a column: one direction, the other, then the original order.

const NATURAL = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const NO_VALUE = ['', '\u2013'];

// A number, a string, or null if there is no value.
function sortKey(row, column) {
    const cell = row.cells[column];
    if (!cell)
        return null;
    if (cell.dataset.v !== undefined && !Number.isNaN(Number(cell.dataset.v)))
        return Number(cell.dataset.v);
    const text = textOf(cell);
    return NO_VALUE.includes(text) ? null : text;
}

// Rows without a value come last in both directions.
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

// Numbers start in descending order, text in ascending order.
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
