// SPDX-License-Identifier: Apache-2.0
// Zooms a column chart to a range selected with two lists or by dragging.

function plotOf(svg) {
    const count = Number(svg.dataset.columns), left = Number(svg.dataset.left);
    return { count, left, pitch: (svg.viewBox.baseVal.width - left) / count };
}

function zoomDrawing(svg, from, to) {
    const plot = plotOf(svg);
    const scale = plot.count / (to - from + 1), shift = plot.left - scale * (plot.left + from * plot.pitch);
    const isIn = (x) => x > plot.left + from * plot.pitch - 0.01 && x < plot.left + (to + 1) * plot.pitch + 0.01;

    for (const part of all(':scope > g, :scope > polygon', svg)) {
        const box = part.getBBox();
        part.classList.toggle('outside', !isIn(box.x + box.width / 2));
        part.setAttribute('transform', `matrix(${scale} 0 0 1 ${shift} 0)`);
    }
    for (const label of all(':scope > text[text-anchor="middle"]', svg)) {
        label.dataset.x ??= label.getAttribute('x');
        label.classList.toggle('outside', !isIn(Number(label.dataset.x)));
        label.setAttribute('x', scale * Number(label.dataset.x) + shift);
    }
}

function columnAt(svg, clientX) {
    const plot = plotOf(svg), box = svg.getBoundingClientRect();
    const x = (clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    return Math.min(Math.max(Math.floor((x - plot.left) / plot.pitch), 0), plot.count - 1);
}

function makeList(label, names) {
    return make('select', { 'aria-label': label, autocomplete: 'off' },
        ...names.map((name, at) => make('option', { value: String(at) }, name)));
}

// The columns have the names of the rows in the chart's table.
function makeZoom(figure) {
    const drawings = all('svg[data-columns]', figure);
    const names = all('details.twin tbody tr', figure).map((row) => textOf(row.cells[0]));
    const key = `z.${figure.id}`;
    if (drawings.length === 0 || names.length < 4 || names.length !== plotOf(drawings[0]).count)
        return;
    const last = names.length - 1, first = makeList('From', names), end = makeList('To', names);
    const whole = makeButton('all', 'All', () => zoom(0, last));
    let pressedAt = -1;

    function zoom(from, to) {
        const [low, high] = from <= to ? [from, to] : [to, from];
        first.value = String(low);
        end.value = String(high);
        whole.hidden = low === 0 && high === last;
        drawings.forEach((svg) => { zoomDrawing(svg, low, high); });
        keepView(key, whole.hidden ? '' : `${low}-${high}`);
        say(whole.hidden ? 'All are shown' : `${names[low]} to ${names[high]} are shown`);
    }
    const choose = () => zoom(Number(first.value), Number(end.value));
    first.addEventListener('change', choose);
    end.addEventListener('change', choose);
    for (const svg of drawings) {
        svg.addEventListener('pointerdown', (event) => { pressedAt = whole.hidden ? columnAt(svg, event.clientX) : -1; });
        svg.addEventListener('pointerup', (event) => {
            const at = columnAt(svg, event.clientX);
            if (pressedAt >= 0 && at !== pressedAt)
                zoom(pressedAt, at);
            pressedAt = -1;
        });
        svg.addEventListener('dblclick', () => zoom(0, last));
    }
    figure.querySelector('h3').after(make('div', { class: 'zoom' }, 'Show ', first, ' to ', end, ' ', whole));
    const [from, to] = (view.get(key) ?? `0-${last}`).split('-').map(Number);
    zoom(Math.min(Math.max(from || 0, 0), last), Math.min(Math.max(to || 0, 0), last));
    status.textContent = '';
}

function makeZooms() {
    all('.drawing').forEach(makeZoom);
}
