// SPDX-License-Identifier: Apache-2.0
// Keeps searches, filters, sort orders and hidden columns in the fragment of the URL, after the anchor and a '~', so
// that a view can be shared.

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
        // the URL stays unchanged
    }
}

// in: value  '' = the initial state
function keepView(key, value) {
    if (value === '')
        view.delete(key);
    else
        view.set(key, value);
    writeView();
}

// Links to anchors keep the view.
function makeViewStay() {
    window.addEventListener('hashchange', () => {
        if (!location.hash.includes('~'))
            writeView();
    });
}
