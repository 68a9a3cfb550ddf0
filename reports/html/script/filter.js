// SPDX-License-Identifier: Apache-2.0
// A filter above a long table: only rows that contain all its words are shown, including folded ones.

function makeFilter(table, key, tools) {
    const field = makeSearchField('Filter rows', `Filter rows of: ${nameOf(table)}`);
    const found = make('span', { class: 'found-count', role: 'status' });
    const fold = table.closest('figure')?.querySelector('.unfold input');
    let isUnfoldedHere = false;

    function filter() {
        const words = wordsOf(field.value);
        const rows = bodyRows(table);
        let hits = 0;
        for (const row of rows) {
            row.hidden = !rowHas(row, words);
            hits += !row.hidden;
        }
        if (fold && (words.length > 0 ? !fold.checked : isUnfoldedHere))
            fold.checked = isUnfoldedHere = words.length > 0;
        found.textContent = words.length > 0 ? `${hits} of ${rows.length} rows` : '';
        keepView(key, field.value.trim());
    }
    field.addEventListener('input', filter);
    if (view.has(key)) {
        field.value = view.get(key);
        filter();
    }
    tools.append(field, found);
}
