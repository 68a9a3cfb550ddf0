// SPDX-License-Identifier: Apache-2.0
// A link beside each heading that can be copied.

function addressOf(id) {
    return `${location.href.split('#')[0]}#${id}`;
}

function makeAnchor(heading, id) {
    const name = heading.textContent.trim();
    const link = make('a', { class: 'anchor', href: `#${id}`, 'aria-label': `Copy the link to: ${name}` });
    link.addEventListener('click', async () => {
        say(await copyText(addressOf(id)) ? 'Link copied' : 'The link is in the address bar');
    });
    heading.append(link);
}

function makeAnchors() {
    for (const part of all('main section[id], main article[id], figure[id]')) {
        const heading = part.querySelector(':scope > :is(h2, h3, figcaption)');
        if (heading && (heading.localName !== 'figcaption' || part.matches('.table')))
            makeAnchor(heading, part.id);
    }
}
