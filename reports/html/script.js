// SPDX-License-Identifier: Apache-2.0
// Sorting and filtering of tables, and copying of time ranges.  The page is complete without it.
(function () {
    'use strict';

    function valueOf(row, column) {
        var cell = row.cells[column];
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
    }

    // Numbers by size, texts by code unit, cells without a value last.
    function compare(a, b, down) {
        var emptyA = a === '\u2013', emptyB = b === '\u2013';
        if (emptyA || emptyB) {
            return emptyA - emptyB;
        }
        if (a === b) {
            return 0;
        }
        return (a < b ? -1 : 1) * (down ? -1 : 1);
    }

    function sortBy(table, column, header) {
        var body = table.tBodies[0];
        var isNumber = header.classList.contains('n');
        var before = header.getAttribute('aria-sort');
        var down = before ? before === 'ascending' : isNumber;
        var rows = Array.prototype.map.call(body.rows, function (row, at) {
            return { row: row, value: valueOf(row, column), at: at };
        });
        rows.sort(function (a, b) {
            return compare(a.value, b.value, down) || a.at - b.at;
        });
        rows.forEach(function (entry) { body.appendChild(entry.row); });
        table.querySelectorAll('thead th').forEach(function (th) { th.removeAttribute('aria-sort'); });
        header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    }

    function makeSortable(table) {
        table.querySelectorAll('thead th').forEach(function (th, column) {
            var button = document.createElement('button');
            button.type = 'button';
            button.className = 'sort';
            button.textContent = th.textContent;
            th.textContent = '';
            th.appendChild(button);
            button.addEventListener('click', function () { sortBy(table, column, th); });
        });
    }

    function makeFilter(table) {
        var box = document.createElement('p');
        var label = document.createElement('label');
        var input = document.createElement('input');
        var found = document.createElement('span');
        box.className = 'filter';
        label.textContent = 'Show rows with ';
        input.type = 'search';
        input.autocomplete = 'off';
        input.spellcheck = false;
        found.setAttribute('role', 'status');
        label.appendChild(input);
        box.appendChild(label);
        box.appendChild(found);
        table.parentNode.parentNode.insertBefore(box, table.parentNode);
        var unfold = table.parentNode.parentNode.querySelector('.unfold input');
        input.addEventListener('input', function () {
            var wanted = input.value.toLowerCase();
            var shown = 0;
            if (unfold && wanted) {
                unfold.checked = true;
            }
            Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
                var hit = row.textContent.toLowerCase().indexOf(wanted) >= 0;
                row.hidden = !hit;
                shown += hit;
            });
            found.textContent = wanted ? ' ' + shown + ' of ' + table.tBodies[0].rows.length : '';
        });
    }

    function select(code) {
        var range = document.createRange();
        range.selectNodeContents(code);
        var selection = window.getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
    }

    // Pages from file:// may not use the clipboard interface: then the text is selected, ready to be copied.
    function makeCopy(code) {
        var button = document.createElement('button');
        button.type = 'button';
        button.className = 'copy';
        button.textContent = 'Copy';
        button.setAttribute('aria-label', 'Copy ' + code.textContent);
        code.after(button);
        button.addEventListener('click', function () {
            select(code);
            var done = false;
            try {
                done = document.execCommand('copy');
            } catch (error) {
                done = false;
            }
            button.textContent = done ? 'Copied' : 'Selected';
            window.setTimeout(function () { button.textContent = 'Copy'; }, 1500);
        });
    }

    document.querySelectorAll('table.sortable').forEach(makeSortable);
    document.querySelectorAll('table.filterable').forEach(makeFilter);
    document.querySelectorAll('code.range').forEach(makeCopy);
})();
