// The script of the leaderboard's page shows flags as they come. The session of a member opens the
// stream by its cookie. A token stays in memory, and is sent in a header: it stands in no address
// and in no store of the browser.

/** The script, as browsers run it. It builds nodes from texts and never from markup. */
export const LIVE_SCRIPT = `'use strict';
(() => {
  const live = document.getElementById('live');
  const form = live.querySelector('form');
  const isMember = live.dataset.member === 'true';
  const path = isMember ? '/leaderboard/events' : '/sse/flags';
  const token = form.querySelector('input');
  const button = form.querySelector('button');
  const state = document.getElementById('live-state');
  const list = document.getElementById('live-flags');
  const SHOWN_MAX = 200;
  const RETRY_MS = 5000;
  const SILENCE_MS = 45000;
  let ended = null;
  let last = null;
  let told = 0;

  const clock = () => new Date().toISOString().slice(11, 19) + ' UTC';
  const say = (text) => { state.textContent = text; };
  const text = (tag, words, name) => {
    const node = document.createElement(tag);
    node.textContent = words;
    if (name) node.className = name;
    return node;
  };
  const add = (...nodes) => {
    const item = document.createElement('li');
    item.append(...nodes);
    list.prepend(item);
    while (list.children.length > SHOWN_MAX) list.lastChild.remove();
  };
  const wallet = ({ chain, address }) => {
    const link = document.createElement('a');
    link.href = '/deployer/' + encodeURIComponent(chain) + '/' + encodeURIComponent(address);
    link.append(text('code', address));
    const title = document.createElement('h3');
    title.append(link);
    return title;
  };
  let unwatched = null;
  const model = (words, { model_version: version }) => {
    const link = document.createElement('a');
    link.href = '/models/rug/' + encodeURIComponent(version);
    link.textContent = version;
    const line = text('p', words, 'quiet');
    line.append(link);
    return line;
  };
  const heard = () => {
    const quiet = told === 0 ? ' Nothing was told since you began.' : '';
    const unseen = unwatched === null ? '' : ' Launches may go unseen: ' + unwatched;
    say('Watching.' + quiet + ' Last heard ' + clock() + '.' + unseen);
  };

  const shows = {
    welcome: (one) => {
      if (one.gap) gap(one.gap);
      unwatched = one.unwatched;
      heard();
    },
    window: (one) => {
      unwatched = one.unwatched;
      heard();
    },
    flag: (one) => {
      told += 1;
      const where = ' on ' + one.chain + (one.simulated ? ', simulated' : '');
      add(wallet(one),
        text('p', one.score.toFixed(2) + where, 'score'),
        text('p', one.evidence),
        text('p', 'Token ' + one.token, 'quiet'),
        model('Flagged ' + one.flagged_at + ' by ', one));
      heard();
    },
    withdrawal: (one) => {
      told += 1;
      add(text('p', one.reason, 'notice'), model(one.withdrawn_at + ' ', one));
      heard();
    },
    retraction: (one) => {
      told += 1;
      add(wallet(one), text('p', 'Flag taken back: ' + one.reason),
        text('p', 'Token ' + one.token, 'quiet'),
        model(one.retracted_at + ' ', one));
      heard();
    },
    gap: (one) => gap(one),
    heartbeat: heard,
    lagged: () => say('This page read too slowly; it goes on from where it was.'),
  };
  const gap = ({ from, to }) => {
    const lost = 'Events ' + from + ' to ' + to + ' can no longer be had: flags may be missing.';
    add(text('p', lost, 'notice'));
  };

  const take = (frame) => {
    const lines = frame.split('\\n');
    const own = lines.filter((line) => line.startsWith('data:'));
    const data = own.map((line) => line.slice(5)).join('\\n');
    if (data === '') return;
    const one = JSON.parse(data);
    const show = shows[one.type];
    if (show) show(one);
    if (typeof one.seq === 'number') last = one.seq;
  };

  const read = async (body, signal) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    let timer;
    const silence = () => new Promise((resolve) => {
      timer = setTimeout(() => resolve({ done: true }), SILENCE_MS);
    });
    while (!signal.aborted) {
      const { done, value } = await Promise.race([reader.read(), silence()]);
      clearTimeout(timer);
      if (done) { await reader.cancel().catch(() => undefined); return; }
      const frames = (rest + value).split(/\\r?\\n\\r?\\n/);
      rest = frames.pop();
      frames.forEach(take);
    }
  };

  const REFUSED = {
    401: isMember ? 'Your session has ended: sign in again.' : 'The token opens nothing here.',
    404: 'This address tells no stream of flags.',
  };

  const watch = async (secret, signal) => {
    while (!signal.aborted) {
      say('Connecting …');
      const headers = { accept: 'text/event-stream' };
      if (secret !== null) headers.authorization = 'Bearer ' + secret;
      if (last !== null) headers['last-event-id'] = String(last);
      try {
        const answer = await fetch(path, { headers, signal, cache: 'no-store' });
        if (answer.status !== 200) {
          const known = REFUSED[answer.status];
          say(known || 'The stream was refused (' + answer.status + ').');
          if (answer.status !== 503) return;
        } else {
          await read(answer.body, signal);
        }
      } catch (fault) {
        if (!signal.aborted) say('The connection failed.');
      }
      if (signal.aborted) return;
      say('Not connected. Trying again; flags that are told meanwhile follow then.');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };

  const stop = () => {
    if (ended) ended.abort();
    ended = null;
    button.textContent = 'Watch';
  };

  const begin = (secret) => {
    const own = new AbortController();
    ended = own;
    button.textContent = 'Stop';
    watch(secret, own.signal).finally(() => { if (ended === own) stop(); });
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (ended) {
      stop();
      say('Not watching: what is told now is not shown here.');
      return;
    }
    const secret = isMember ? null : token.value.trim();
    if (secret === '') {
      say('Paste a token first.');
      return;
    }
    begin(secret);
  });
  live.hidden = false;
  if (isMember) begin(null);
})();
`;
