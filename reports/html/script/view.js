// SPDX-License-Identifier: Apache-2.0
// What was searched, filtered, sorted and hidden stands in the fragment of the address, behind the anchor and a '~', so that a
// view can be sent.

const view = new URLSearchParams(location.hash.split('~')[1] ?? '');

function anchorOf(hash) {
    return decodeURIComponent(hash.slice(1).split('~')[0]);
}

function writeView() {
    const state = view.toString();
    const address = `#${encodeURIComponent(anchorOf(location.hash))}${state ? `~${state}` : ''}`;
    if (address === location.hash || (address === '#' && location.hash === ''))
        return;
    try {
        window.history.replaceState(null, '', address);
    } catch {
        // the address stays as it is
    }
}

// in: value  '' = as it was first
function keepView(key, value) {
    if (value === '')
        view.delete(key);
    else
        view.set(key, value);
    writeView();
}

// A link to an anchor keeps the view.
function makeViewStay() {
    window.addEventListener('hashchange', () => {
        if (!location.hash.includes('~'))
            writeView();
    });
}
