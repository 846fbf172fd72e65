// The script of a signal's page: the browser recomputes what the page shows from the published
// bytes. It is written on its own, without a line of the service's code, so that a fault of one
// shows against the other (check-script.test.ts).

/** The script, as browsers run it. It builds nodes from texts and never from markup. */
export const CHECK_SCRIPT = String.raw`'use strict';
(() => {
  const MASK = (1n << 64n) - 1n;
  const RATE = 136;
  const turn = (word, by) => ((word << BigInt(by)) | (word >> BigInt(64 - by))) & MASK;
  const ROUNDS = [];
  let shift = 1;
  for (let round = 0; round < 24; round += 1) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if (shift & 1) constant |= 1n << BigInt((1 << bit) - 1);
      shift = shift & 128 ? (shift << 1) ^ 0x171 : shift << 1;
    }
    ROUNDS.push(constant);
  }
  const LANES = [];
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step += 1) {
    LANES.push([x + 5 * y, (((step + 1) * (step + 2)) / 2) % 64]);
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  const permute = (state) => {
    for (const constant of ROUNDS) {
      const sums = [0, 1, 2, 3, 4].map((at) =>
        state[at] ^ state[at + 5] ^ state[at + 10] ^ state[at + 15] ^ state[at + 20]);
      for (let at = 0; at < 25; at += 1) {
        state[at] ^= sums[(at + 4) % 5] ^ turn(sums[(at + 1) % 5], 1);
      }
      const before = state.slice();
      let [from, to] = [1, 0];
      for (let step = 0; step < 24; step += 1) {
        const [source, by] = LANES[step];
        const column = source % 5;
        const row = (source - column) / 5;
        to = row + 5 * ((2 * column + 3 * row) % 5);
        state[to] = turn(before[source], by % 64);
      }
      state[0] = before[0];
      for (let row = 0; row < 25; row += 5) {
        const line = state.slice(row, row + 5);
        for (let at = 0; at < 5; at += 1) {
          state[row + at] = line[at] ^ (~line[(at + 1) % 5] & MASK & line[(at + 2) % 5]);
        }
      }
      state[0] ^= constant;
    }
  };
  const keccak = (bytes) => {
    const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE);
    padded.set(bytes);
    padded[bytes.length] ^= 1;
    padded[padded.length - 1] ^= 128;
    const view = new DataView(padded.buffer);
    const state = new BigUint64Array(25);
    for (let at = 0; at < padded.length; at += RATE) {
      for (let lane = 0; lane < RATE / 8; lane += 1) {
        state[lane] ^= view.getBigUint64(at + 8 * lane, true);
      }
      permute(state);
    }
    const out = new DataView(new ArrayBuffer(32));
    for (let lane = 0; lane < 4; lane += 1) out.setBigUint64(8 * lane, state[lane], true);
    return new Uint8Array(out.buffer);
  };
  const hex = (bytes) => '0x' + [...bytes].map((one) => one.toString(16).padStart(2, '0')).join('');
  const unhex = (text) => Uint8Array.from(text.slice(2).match(/../g), (two) => parseInt(two, 16));
  const join = (all) => Uint8Array.from(all.flatMap((one) => [...one]));
  const utf8 = (text) => new TextEncoder().encode(text);

  // hashStruct of EIP-712, without a domain.
  const TYPE = 'Call(string version,string chain,string target,string verdict,' +
    'uint32 confidence_millionths,string reasoning,string[] evidence_used,bytes32 evidence_hash,' +
    'string prompt_version,string model,string run_id,uint64 generated_at_unix)';
  const textWord = (text) => keccak(utf8(text));
  const numberWord = (value) => unhex('0x' + value.toString(16).padStart(64, '0'));
  const callHash = (signal) => hex(keccak(join([
    textWord(TYPE),
    textWord(signal.version),
    textWord(signal.target.chain),
    textWord(signal.target.address),
    textWord(signal.verdict),
    numberWord(Math.round(signal.confidence * 1000000)),
    textWord(signal.reasoning),
    keccak(join(signal.evidence_used.map(textWord))),
    unhex(signal.evidence_hash),
    textWord(signal.prompt_version),
    textWord(signal.model),
    textWord(signal.run_id),
    numberWord(signal.generated_at_unix),
  ])));

  // RFC 8785 without fractions: bytes that are written otherwise are another document.
  const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
  const canonical = (value) => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    if (Array.isArray(value)) return '[' + value.map(canonical).join(',') + ']';
    return '{' + Object.keys(value).sort(compare).map((key) =>
      JSON.stringify(key) + ':' + canonical(value[key])).join(',') + '}';
  };
  const BYTES_MAX = 262144;
  const DEPTH_MAX = 8;
  const isPlain = (value, depth) => {
    if (typeof value === 'number') return Number.isSafeInteger(value);
    if (typeof value === 'string') return !/\p{Cs}/u.test(value);
    if (value === null || typeof value !== 'object') return true;
    return depth < DEPTH_MAX && Object.entries(value).every((pair) =>
      isPlain(pair[0], depth) && isPlain(pair[1], depth + 1));
  };
  // Two equal keys, a fraction or another escape leave other bytes than those that were read.
  const read = (bytes) => {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text);
    const isStrict = bytes.length <= BYTES_MAX && isPlain(value, 0);
    return { value, isCanonical: isStrict && canonical(value) === text };
  };

  const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const node = (left, right) => sha256(join([[1], left, right]));
  // RFC 9162, 2.1.3.2.
  const leadsToRoot = async ({ index, size, root, proof }, call_hash) => {
    let [at, last] = [index, size - 1];
    let hash = await sha256(join([[0], [1], unhex(call_hash)]));
    for (const sibling of proof.map(unhex)) {
      if (last === 0) return false;
      if (at % 2 === 1 || at === last) {
        hash = await node(sibling, hash);
        while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
      } else {
        hash = await node(hash, sibling);
      }
      [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    }
    return last === 0 && hex(hash) === root;
  };

  const shownAs = (value) => {
    if (typeof value === 'string') return value;
    return typeof value === 'object' ? value.untrusted : String(value);
  };
  // A parser of markup changes line ends and the character zero: texts are compared without them.
  const plain = (text) => text.replaceAll(/[\s\0�]+/g, ' ').trim();

  const own = Object.hasOwn;
  const CITED = 'evidence_used';
  const checksOf = (signal, bytes, shown) => {
    const hash = hex(keccak(bytes));
    const found = read(bytes);
    const { evidence, target, sources } = found.value;
    const holds = (key) => own(evidence, key) && evidence[key].value !== null;
    const missing = signal[CITED].filter((key) => !holds(key));
    const stated = callHash(signal);
    const fields = shown.fields.filter(([field, text]) =>
      plain(text) !== plain(String(field.split('.').reduce((of, name) => of[name], signal))));
    const keys = shown.keys.filter(([key, text]) =>
      !holds(key) || plain(text) !== plain(shownAs(evidence[key].value)));
    const cited = shown.keys.map(([key]) => key);
    const gaps = sources.filter(({ status }) => status !== 'present');
    const isGap = ([source, reason]) =>
      gaps.some((one) => one.source === source && plain(String(one.reason)) === plain(reason));
    const others = [...fields, ...keys, ...shown.gaps.filter((one) => !isGap(one))];
    const isAll = shown.gaps.length === gaps.length && cited.join() === signal[CITED].join();
    const isMade = sources.length === signal.evidence_source_count
      && new Date(signal.generated_at_unix * 1000).toISOString() === signal.generated_at;
    const isTarget = target.chain === signal.target.chain
      && target.address === signal.target.address;
    return [
      ['bundle', hash === signal.evidence_hash,
        'The published bundle hashes to the evidence hash.',
        'The published bundle hashes to ' + hash + '.'],
      ['canonical', found.isCanonical,
        'The bundle is in its one canonical form.',
        'The bundle is not canonical: two readers may read two contents.'],
      ['target', isTarget,
        'The bundle is about this address.',
        'The bundle is about another address.'],
      ['citations', missing.length === 0,
        'Every cited key stands in the bundle (' + signal[CITED].length + ').',
        'Cited, and not in the bundle: ' + missing.join(', ') + '.'],
      ['call', stated === signal.call_hash,
        'Everything that the signal states hashes to its call hash.',
        'What the signal states hashes to ' + stated + '.'],
      ['id', signal.signal_id === 'sig_' + signal.call_hash.slice(2, 34),
        'Its id is the beginning of the call hash.',
        'Its id is not the beginning of the call hash.'],
      ['page', others.length === 0 && isAll && isMade,
        'This page shows the same texts, values and gaps.',
        'This page shows something else: ' + (others.map(([name]) => name).join(', ')
          || 'its lists or its time') + '.'],
    ];
  };

  const text = (tag, words, name) => {
    const made = document.createElement(tag);
    made.textContent = words;
    if (name) made.className = name;
    return made;
  };
  const show = (list, [, holds, yes, not]) => {
    const item = document.createElement('li');
    const word = holds === null ? 'Not checked' : holds ? 'Holds' : 'Differs';
    const look = holds === null ? 'open' : holds ? 'seen' : 'hit';
    item.append(text('span', word, 'badge ' + look), ' ', holds ? yes : not);
    list.append(item);
  };
  const fetched = async (path) => {
    const answer = await fetch(path, { cache: 'no-store' });
    if (!answer.ok) throw new Error(path + ' answered ' + answer.status);
    return answer;
  };
  const textsOf = (name) => [...document.querySelectorAll('[data-' + name + ']')]
    .map((one) => [one.dataset[name], one.textContent]);
  const logCheck = async (signal, id) => {
    const UNREAD = 'Its place in the log was not checked';
    try {
      const { log } = await (await fetched('/api/signals/verify/' + id)).json();
      if (log === null) return ['log', null, '', UNREAD + ': the log answers no proof of it yet.'];
      if (!globalThis.crypto || !crypto.subtle) {
        return ['log', null, '', UNREAD + ': a browser hashes it over https alone.'];
      }
      const where = 'leaf ' + log.index + ' of ' + log.size + ' (' + log.origin + ')';
      return ['log', await leadsToRoot(log, signal.call_hash),
        'The call hash is ' + where + ' under the newest published root.',
        'The call hash is not ' + where + ' under the newest published root.'];
    } catch (fault) {
      return ['log', null, '', UNREAD + ': ' + fault.message];
    }
  };
  const run = async (section) => {
    const signal = JSON.parse(section.dataset.signal);
    const id = encodeURIComponent(signal.signal_id);
    const state = section.querySelector('[data-state]');
    const list = section.querySelector('ul');
    try {
      const answer = await fetched('/api/signals/' + id + '/evidence');
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const shown = { fields: textsOf('field'), keys: textsOf('key'), gaps: textsOf('gap') };
      const checks = checksOf(signal, bytes, shown);
      checks.push(await logCheck(signal, id));
      for (const check of checks) show(list, check);
      const isWrong = checks.some(([, holds]) => holds === false);
      const isWhole = checks.every(([, holds]) => holds !== null);
      state.textContent = isWrong
        ? 'Your browser recomputed this signal, and something differs.'
        : isWhole
          ? 'Your browser recomputed this signal, and all of it holds.'
          : 'Your browser recomputed this signal. What it could check holds.';
      section.dataset.outcome = isWrong ? 'differs' : isWhole ? 'holds' : 'in_part';
    } catch (fault) {
      state.textContent = 'Your browser could not check this signal: ' + fault.message;
      section.dataset.outcome = 'unread';
    }
  };
  globalThis.exhibitSignals = { keccak, hex, callHash, read, checksOf, leadsToRoot };
  const section = globalThis.document && document.getElementById('check');
  if (section) run(section);
})();
`;
