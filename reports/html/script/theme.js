// SPDX-License-Identifier: Apache-2.0
// Light, dark, or the system's theme.

const THEMES = ['auto', 'light', 'dark'];
const THEME_KEY = 'tracemill-theme';

// Pages opened as files may have no storage: the choice then lasts until the page is closed.
function storedTheme() {
    try {
        return window.localStorage.getItem(THEME_KEY);
    } catch {
        return null;
    }
}

function storeTheme(theme) {
    try {
        window.localStorage.setItem(THEME_KEY, theme);
    } catch {
        // storedTheme reports it
    }
}

function showTheme(theme) {
    if (theme === 'auto')
        document.documentElement.removeAttribute('data-theme');
    else
        document.documentElement.dataset.theme = theme;
}

function makeThemeSwitch(tools) {
    const options = THEMES.map((theme) => make('option', { value: theme }, theme[0].toUpperCase() + theme.slice(1)));
    const choice = make('select', { 'aria-label': 'Colors', class: 'theme' }, ...options);
    choice.value = THEMES.includes(storedTheme()) ? storedTheme() : 'auto';
    showTheme(choice.value);
    choice.addEventListener('change', () => {
        showTheme(choice.value);
        storeTheme(choice.value);
    });
    tools.append(choice);
}
