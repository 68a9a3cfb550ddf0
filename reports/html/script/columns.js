// SPDX-License-Identifier: Apache-2.0
// Hides and shows columns; the first one cannot be hidden, since it names the rows.

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
