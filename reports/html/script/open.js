// SPDX-License-Identifier: Apache-2.0
// Opens folded content when a link, a search or the printer needs it.

function reveal(element) {
    for (let part = element; part; part = part.parentElement) {
        if (part.localName === 'details')
            part.open = true;
    }
    const closing = element.querySelector(':scope > details.closing');
    if (closing)
        closing.open = true;
    const row = element.closest('tbody tr');
    const fold = row?.closest('figure')?.querySelector('.unfold input');
    if (row)
        row.hidden = false;
    if (fold && row.offsetParent === null)
        fold.checked = true;
}

function targetOf(address) {
    const id = anchorOf(address);
    return id ? document.getElementById(id) : null;
}

function revealTarget() {
    const target = targetOf(location.hash);
    if (target && (target.offsetParent === null || target.querySelector(':scope > details.closing:not([open])'))) {
        reveal(target);
        target.scrollIntoView();
    }
}

function makeTargetsOpen() {
    let openedForPaper = [];

    window.addEventListener('hashchange', revealTarget);
    document.addEventListener('click', (event) => {
        const link = event.target.closest('a[href^="#"]');
        if (link && anchorOf(link.hash) === anchorOf(location.hash))
            revealTarget();
    });
    window.addEventListener('beforeprint', () => {
        openedForPaper = all('details:not([open], .twin)').filter((part) => !part.closest('table'));
        openedForPaper.forEach((part) => { part.open = true; });
    });
    window.addEventListener('afterprint', () => {
        openedForPaper.forEach((part) => { part.open = false; });
    });
    revealTarget();
}
