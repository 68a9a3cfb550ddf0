// SPDX-License-Identifier: Apache-2.0
// A filter above a long table: only rows that contain all its words are shown, including folded ones.  Columns marked for it add
// a list of their values to choose from; a column of labels, 'owner=alice pool="a b"', adds one for each key.

const CHOICES_MOST = 500;

// [[name, value]...] of a cell
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

// Of the columns with a choice: Map of name to Map of value to its rows.
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

// [{select, values, key}...]; none for a value that all rows have
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
