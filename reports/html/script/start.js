// SPDX-License-Identifier: Apache-2.0
// The page is complete without any of these scripts.

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
    // On a phone, the first screen belongs to the report, so the tools are where the sections start.
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
