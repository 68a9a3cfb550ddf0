// SPDX-License-Identifier: Apache-2.0
// Tooltips with the definition of a term or the meaning of a chart mark, beside the pointer or the focused element.

const TIP_GAP = 12, TIP_EDGE = 8, TIP_HIDE_MS = 150;
const KEY_STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };
const tip = make('div', { class: 'tooltip', id: 'tooltip', role: 'tooltip', hidden: '' });
const tipTexts = new WeakMap();
let tipOwner = null, tipTimer = 0;

// The innermost element here that has a tooltip.
function tipOwnerAt(element) {
    for (let part = element; part; part = part.parentElement) {
        if (tipTexts.has(part))
            return part;
    }
    return null;
}

// Beside a point of the window, and within the window.
function placeTip(x, y) {
    const box = tip.getBoundingClientRect();
    const root = document.documentElement;
    const fitsBelow = y + TIP_GAP + box.height < root.clientHeight - TIP_EDGE;
    const left = Math.min(x + TIP_GAP, root.clientWidth - box.width - TIP_EDGE);
    tip.style.left = `${Math.max(left, TIP_EDGE)}px`;
    tip.style.top = `${Math.max(fitsBelow ? y + TIP_GAP : y - TIP_GAP - box.height, TIP_EDGE)}px`;
}

function hideTip() {
    clearTimeout(tipTimer);
    tipOwner?.removeAttribute('aria-describedby');
    tipOwner = null;
    tip.hidden = true;
}

function placeBelow(owner) {
    const box = owner.getBoundingClientRect();
    placeTip(box.left - TIP_GAP, box.bottom - TIP_GAP / 2);
}

function showTip(owner) {
    hideTip();
    tipOwner = owner;
    tip.textContent = tipTexts.get(owner);
    tip.hidden = false;
    owner.setAttribute('aria-describedby', 'tooltip');
    placeBelow(owner);
}

// The tip of a mark follows the pointer; that of a word stays below the word, so the pointer can move onto it.
function onPointer(event) {
    const owner = tip.contains(event.target) ? tipOwner : tipOwnerAt(event.target);
    if (owner === null && tipOwner === null)
        return;
    clearTimeout(tipTimer);
    if (owner === null)
        tipTimer = setTimeout(hideTip, TIP_HIDE_MS);
    else if (owner !== tipOwner)
        showTip(owner);
    if (owner?.ownerSVGElement && !tip.contains(event.target))
        placeTip(event.clientX, event.clientY);
}

// The focused element keeps its tip.
function onScroll() {
    const focused = document.activeElement;
    if (tipOwner && (focused === tipOwner || focused === tipOwner.ownerSVGElement))
        placeBelow(tipOwner);
    else
        hideTip();
}

// A chart is focused as a whole; the arrow keys move from mark to mark.
function makeMarksReachable(svg, marks) {
    let at = -1;
    svg.setAttribute('tabindex', '0');
    svg.addEventListener('keydown', (event) => {
        const step = KEY_STEPS[event.key];
        if (step === undefined || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        at = Math.min(Math.max(at + step, 0), marks.length - 1);
        showTip(marks[at]);
        say(tip.textContent);
    });
}

// Ours replaces the browser's own tooltip, the text of <title>.
function takeTitle(title) {
    const mark = title.parentNode;
    tipTexts.set(mark, title.textContent);
    title.remove();
    return mark;
}

function makeTips() {
    for (const element of all('[title]')) {
        tipTexts.set(element, element.title);
        element.removeAttribute('title');
    }
    for (const svg of all('svg')) {
        const marks = all('g > title', svg).map(takeTitle);
        if (marks.length > 0)
            makeMarksReachable(svg, marks);
    }
    document.body.append(tip);
    document.addEventListener('pointermove', onPointer);
    document.addEventListener('focusin', (event) => {
        if (tipTexts.has(event.target))
            showTip(event.target);
    });
    document.addEventListener('focusout', hideTip);
    document.addEventListener('scroll', onScroll, { passive: true });
    document.addEventListener('keydown', (event) => {
        if (event.key === 'Escape')
            hideTip();
    });
}
