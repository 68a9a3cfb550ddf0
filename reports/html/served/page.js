/* The page that `open` serves: it shows the report, adds links to the places that the report names, and hands the trace
 * to Perfetto's tab by the messages of perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui. */
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const STARTS = ['Start', 'First at'];
  const NAMED = ['Kernel', 'Operation'];
  const LENGTHS = ['Duration', 'Step time', 'Longest', 'Mean'];
  const SPANS = ['Duration', 'Host span']; /* of what is in the trace from that start on */
  const ASK_MS = 100, WAIT_MS = 60000, ENDED_MS = 5000;
  const extent = { begin: null, end: null }; /* of all places, as far as they are surely in the trace */
  let facts, ui, viewer, isLoaded = false;

  const say = (text) => { $('status').textContent = text; };

  /* A place with some margin around it, up to the first and the last place of the report: Perfetto ignores a range that
   * is not inside the trace. */
  const around = ({ begin, end }) => {
    const room = (end - begin) / 4n + 1000n;
    return { begin: begin - room > extent.begin ? begin - room : extent.begin,
      end: end + room < extent.end ? end + room : extent.end };
  };

  const addressOf = (place) => {
    const commands = [{ id: 'dev.perfetto.ExpandTracksByRegex', args: [facts.expanded] },
      { id: 'dev.perfetto.PinTracksByRegex', args: [facts.pinned] }];
    if (place && place.name) {
      const name = place.name.replaceAll("'", "''");
      commands.push({ id: 'dev.perfetto.RunQueryAndShowTab',
        args: [`select id, ts, dur, track_id, name from slice where name = '${name}' order by dur desc limit 1000`] });
    }
    const query = new URLSearchParams({ startupCommands: JSON.stringify(commands) });
    if (place && 'begin' in place) {
      const shown = around(place);
      query.set('visStart', shown.begin);
      query.set('visEnd', shown.end);
      /* Its row is not among the pinned ones: Perfetto selects a slice that starts there, and scrolls to its row. */
      if (place.name) query.set('ts', place.begin);
    }
    return `${facts.ui}/#!/?${query}`;
  };

  /* Perfetto answers PING when it is ready. */
  const whenReady = (target) => new Promise((done, fail) => {
    const end = Date.now() + WAIT_MS;
    const ask = setInterval(() => {
      if (target.closed || Date.now() > end) {
        stop();
        fail(new Error(target.closed ? 'The Perfetto tab was closed.' : `${facts.ui} does not answer.`));
      } else {
        target.postMessage('PING', ui);
      }
    }, ASK_MS);
    const hear = (event) => {
      if (event.source === target && event.origin === ui && event.data === 'PONG') {
        stop();
        done();
      }
    };
    const stop = () => { clearInterval(ask); window.removeEventListener('message', hear); };
    window.addEventListener('message', hear);
  });

  const goTo = (place) => {
    const shown = around(place);
    viewer.postMessage({ perfetto: { timeStart: Number(shown.begin) / 1e9, timeEnd: Number(shown.end) / 1e9, viewPercentage: 1 } }, ui);
    viewer.focus();
  };

  const open = async (place) => {
    if (isLoaded && viewer && !viewer.closed && !(place && place.name)) {
      if (place) goTo(place);
      else viewer.focus();
      return;
    }
    const target = viewer = window.open(addressOf(place), '_blank');
    isLoaded = false;
    if (!target) {
      say('The browser blocked the new tab: allow pop-ups for this page.');
      return;
    }
    try {
      say('Waiting for Perfetto …');
      const answer = fetch('trace');
      await whenReady(target);
      say('Reading the trace …');
      const response = await answer;
      if (!response.ok) throw new Error(`The trace cannot be read (${response.status}).`);
      const buffer = await response.arrayBuffer();
      target.postMessage({ perfetto: { buffer, title: facts.title, fileName: facts.file, keepApiOpen: true, localOnly: true } },
        ui, [buffer]);
      isLoaded = viewer === target;
      say('The trace is in the Perfetto tab.');
    } catch (problem) {
      say(`${problem.message} You can drag ${facts.path} onto ${facts.ui} instead.`);
    }
  };

  const addLink = (to, place) => {
    if ('begin' in place) {
      const inside = place.inside || place.end;
      if (extent.begin === null || place.begin < extent.begin) extent.begin = place.begin;
      if (extent.end === null || inside > extent.end) extent.end = inside;
    }
    const link = to.ownerDocument.createElement('a');
    link.href = '#';
    link.className = 'in-perfetto';
    link.textContent = place.label || '↗';
    link.title = 'Open in Perfetto';
    link.setAttribute('aria-label', 'Open in Perfetto');
    link.style.marginLeft = '0.5em';
    link.style.textDecoration = 'none';
    link.addEventListener('click', (event) => { event.preventDefault(); event.stopPropagation(); open(place); });
    to.append(link);
  };

  const psOf = (cell) => (cell && /^\d+$/.test(cell.dataset.v || '') ? BigInt(cell.dataset.v) : null);

  /* Rounded as in the trace. */
  const toNs = (ps) => (ps + 500n) / 1000n;

  const nameOf = (row) => {
    const head = row.querySelector('th.name, th.tree.d0');
    return head ? (head.querySelector('.full') || head).textContent : null;
  };

  /* Tables with times: their rows are places. */
  const linkTable = (table) => {
    const titles = [...table.querySelectorAll('thead tr:last-child th')].map((th) => th.textContent.trim());
    const start = titles.findIndex((title) => STARTS.includes(title));
    const columnOf = (words) => words.map((title) => titles.indexOf(title)).find((at) => at >= 0);
    const length = columnOf(LENGTHS), span = columnOf(SPANS);
    if (start < 0 && !NAMED.includes(titles[0])) return;
    for (const row of table.querySelectorAll('tbody tr')) {
      const name = NAMED.includes(titles[0]) ? nameOf(row) : null;
      const begin = start < 0 ? null : psOf(row.cells[start]);
      const endOf = (column) => toNs(begin + (column === undefined ? 0n : psOf(row.cells[column]) || 0n));
      if (begin !== null)
        addLink(row.cells[start], { begin: toNs(begin), end: endOf(length), inside: endOf(span), name });
      else if (name)
        addLink(row.cells[0], { name });
    }
  };

  /* A finding names its places by the SQL that finds their slices. */
  const linkFinding = (item) => {
    const found = /where ts < (\d+) and ts \+ dur > (\d+)/.exec(item.querySelector('code.copy')?.textContent || '');
    if (found) addLink(item, { begin: BigInt(found[2]), end: BigInt(found[1]), label: 'Open in Perfetto' });
  };

  const linkReport = () => {
    const page = $('report').contentDocument;
    document.title = page.title || document.title;
    if (!facts.file) return;
    page.querySelectorAll('ul.where li').forEach(linkFinding);
    page.querySelectorAll('table').forEach(linkTable);
  };

  const start = async () => {
    facts = await (await fetch('facts.json')).json();
    ui = new URL(facts.ui).origin;
    $('title').textContent = facts.title;
    document.title = facts.title;
    if (facts.file) {
      $('open').hidden = false;
      $('open').addEventListener('click', () => open(null));
    } else {
      say('There is no trace beside this report: write one with "tracemill report RUN --format html,perfetto".');
    }
    if (facts.report) {
      $('report').hidden = false;
      $('report').addEventListener('load', linkReport, { once: true });
      $('report').src = 'report.html';
    }
    /* The server exits when no page keeps this connection open. */
    const alive = new EventSource('alive');
    alive.addEventListener('error', () => setTimeout(() => {
      if (alive.readyState !== EventSource.OPEN) say('tracemill has ended: links to Perfetto no longer work.');
    }, ENDED_MS));
  };

  start().catch((problem) => say(problem.message));
})();
