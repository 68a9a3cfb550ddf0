/* The page that `open` serves: it shows the report, adds links to the places that the report names, and hands the trace
 * to Perfetto's tab by the messages of perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui. */
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const STARTS = ['Start', 'First at'];
  const NAMED = ['Kernel', 'Operation'];
  const LENGTHS = ['Duration', 'Step time', 'Longest', 'Mean'];
  const SPANS = ['Duration', 'Host span']; /* of what is in the trace from that start on */
  const PLACE = /where ts(?: - zero)? < (\d+) and ts(?: - zero)? \+ dur > (\d+)/; /* zero: of a Chrome trace as recorded */
  const ASK_MS = 100, WAIT_MS = 60000, ENDED_MS = 5000;
  const extent = { begin: null, end: null }; /* of all places, as far as they are surely in the trace */
  let facts, ui, viewer;
  let shown = null; /* what is in the viewer: { file, pinned } */

  const say = (text) => { $('status').textContent = text; };

  /* A place with some margin around it, up to the first and the last place of the report: Perfetto ignores a range that
   * is not inside the trace. */
  const around = ({ begin, end }) => {
    const room = (end - begin) / 4n + 1000n;
    return { begin: begin - room > extent.begin ? begin - room : extent.begin,
      end: end + room < extent.end ? end + room : extent.end };
  };

  const quote = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

  /* A device, "gpu:1" or "host0/gpu:1", or a host.  Names of rows end with that of the host where there are several; the
   * report may shorten it at its start.  out: its id, and an expression for that end */
  const partsOf = (device) => {
    const slash = device.lastIndexOf('/');
    const id = device.slice(slash + 1);
    const host = /:\d+$/.test(id) ? device.slice(0, Math.max(slash, 0)) : device;
    return { id, of: host ? `( · (.*[^A-Za-z0-9])?${quote(host)})?` : '' };
  };

  /* The rows to pin: for a place on a device the verdict, and its findings, steps and idle time.  Operations have no row
   * of the analysis: the list of their slices needs the room. */
  const pinnedAt = (place) => {
    if (!place || !place.device) return place && place.name ? '^Analysis · tracemill( · .*)?$' : facts.pinned;
    const { id, of } = partsOf(place.device);
    return '^(Analysis · tracemill( · .*)?|' +
      `((critical|warning) findings|busy share|host steps|${quote(id)} (steps|idle gaps|busy share)) · tracemill${of})$`;
  };

  /* Of a place on a device the streams of the device, or the threads that are it: the analysis is pinned. */
  const expandedAt = (place) => {
    if (!place || !place.device) return place && place.name ? null : facts.expanded;
    const { id, of } = partsOf(place.device);
    const [type, number] = id.toUpperCase().split(':');
    return type === 'CPU' ? `^/?host:CPU${of}( \\d+)?$` : `^/?(device:${quote(type)}:${number}|${quote(type)} ${number})${of}( \\d+)?$`;
  };

  const addressOf = (place) => {
    const expanded = expandedAt(place);
    const commands = [{ id: 'dev.perfetto.PinTracksByRegex', args: [pinnedAt(place)] }];
    if (expanded) commands.push({ id: 'dev.perfetto.ExpandTracksByRegex', args: [expanded] });
    const name = place && place.name ? `'${place.name.replaceAll("'", "''")}'` : null;
    /* The launch of a kernel may have its name. */
    const named = `from slice where name = ${name} order by category = 'launch', dur desc limit`;
    if (name)
      commands.push({ id: 'dev.perfetto.RunQueryAndShowTab', args: [`select id, ts, dur, track_id, name ${named} 1000`] });
    const query = new URLSearchParams({ startupCommands: JSON.stringify(commands) });
    if (place && 'begin' in place) {
      const window = around(place);
      query.set('visStart', window.begin);
      query.set('visEnd', window.end);
    }
    /* Its row is not among the pinned ones: Perfetto selects the slice for which "ts = " and this holds, and scrolls to it.
     * At a time it is the one of that name or, as modules, steps and computed rows may start then too, the shortest one;
     * without a time the longest one of that name. */
    if (name && 'begin' in place) {
      query.set('ts', `${place.begin} and id = (select id from slice where ts = ${place.begin} ` +
        `order by name = ${name} desc, category = 'tracemill', dur = 0, dur limit 1)`);
    } else if (name) {
      query.set('ts', `ts and id = (select id ${named} 1)`);
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
    const window = around(place);
    viewer.postMessage({ perfetto: { timeStart: Number(window.begin) / 1e9, timeEnd: Number(window.end) / 1e9, viewPercentage: 1 } }, ui);
    viewer.focus();
  };

  const open = async (place) => {
    const file = place && place.file ? place.file : 'trace';
    const isShown = shown && shown.file === file && !viewer.closed && (!place || shown.pinned === pinnedAt(place));
    if (isShown && !(place && place.name)) {
      if (place && 'begin' in place) goTo(place);
      else viewer.focus();
      return;
    }
    const target = viewer = window.open(addressOf(place), '_blank');
    shown = null;
    if (!target) {
      say('The browser blocked the new tab: allow pop-ups for this page.');
      return;
    }
    try {
      say('Waiting for Perfetto …');
      const answer = fetch(file);
      await whenReady(target);
      say('Reading the trace …');
      const response = await answer;
      if (!response.ok) throw new Error(`The trace cannot be read (${response.status}).`);
      const buffer = await response.arrayBuffer();
      const fileName = file === 'trace' ? facts.file : file;
      const title = file === 'trace' ? facts.title : `${facts.title} · ${file}`;
      target.postMessage({ perfetto: { buffer, title, fileName, keepApiOpen: true, localOnly: true } }, ui, [buffer]);
      if (viewer === target) shown = { file, pinned: pinnedAt(place) };
      say('The trace is in the Perfetto tab.');
    } catch (problem) {
      const path = file === 'trace' ? facts.path : facts.path.replace(/[^/]*$/, file);
      say(`${problem.message} You can drag ${path} onto ${facts.ui} instead.`);
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
    const start = titles.findIndex((title) => STARTS.includes(title)), device = titles.indexOf('Device');
    const end = titles.indexOf('End'), onDevice = titles.indexOf('Device span');
    const notes = [...(table.closest('figure')?.querySelectorAll('.note') || [])].map((note) => note.textContent).join(' ');
    const onlyDevice = /\bDevice in all rows: ([^\s,;]+)/.exec(notes)?.[1] || ''; /* a value that all rows share is a note */
    const columnOf = (words) => words.map((title) => titles.indexOf(title)).find((at) => at >= 0);
    const length = columnOf(LENGTHS), span = columnOf(SPANS);
    if (start < 0 && !NAMED.includes(titles[0])) return;
    for (const row of table.querySelectorAll('tbody tr')) {
      const name = NAMED.includes(titles[0]) ? nameOf(row) : null;
      const begin = start < 0 ? null : psOf(row.cells[start]);
      const endOf = (column) => toNs(begin + (column === undefined ? 0n : psOf(row.cells[column]) || 0n));
      const place = { name, device: row.cells[device] ? row.cells[device].textContent.trim() : onlyDevice };
      const last = psOf(row.cells[end]), lasts = psOf(row.cells[onDevice]);
      if (last !== null && lasts !== null) /* a step: a device may run it long after it starts on the host */
        addLink(row.cells[start], { ...place, begin: toNs(last - lasts), end: toNs(last) });
      else if (begin !== null)
        addLink(row.cells[start], { ...place, begin: toNs(begin), end: endOf(length), inside: endOf(span) });
      else if (name)
        addLink(row.cells[0], { name });
    }
  };

  /* A finding names its places by the SQL that finds their slices. */
  const linkFinding = (item) => {
    const found = PLACE.exec(item.querySelector('code.copy')?.textContent || '');
    const device = (item.querySelector('span')?.textContent || '').split(', ').slice(2).join(', '); /* "at ..., for ..., gpu:1" */
    if (found) addLink(item, { begin: BigInt(found[2]), end: BigInt(found[1]), device, label: 'Open in Perfetto' });
  };

  /* The list of a split trace: each file in it opens whole. */
  const linkPart = (download) => {
    const name = download.getAttribute('href');
    addLink(download.parentElement, { file: name === facts.file ? null : name, label: 'Open in Perfetto' });
  };

  const linkReport = () => {
    const page = $('report').contentDocument;
    document.title = page.title || document.title;
    if (!facts.file) return;
    page.querySelectorAll('ul.where li').forEach(linkFinding);
    page.querySelectorAll('table').forEach(linkTable);
    page.querySelectorAll('a[download]').forEach(linkPart);
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
