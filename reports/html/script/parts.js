// SPDX-License-Identifier: Apache-2.0
// index.html of a split trace: each part, and the overview, open in Perfetto.  `tracemill open` has its own links.

document.body.append(status);
if (window.top === window) {
    all('a[download]').forEach((link) => link.after(' ', makeTraceButton(link.getAttribute('href'), '')));
    explainTraceLinks(document.querySelector('table').closest('.scroll'), 'the part, which is beside this page; you can choose all parts at once');
}
