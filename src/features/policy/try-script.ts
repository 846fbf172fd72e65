// The script of the page on which a policy is tried. The evaluator (`exhibitPolicy`) stands before
// it in the same file; the policy and the decision stay in the browser.

/** The script, as browsers run it. It builds nodes from texts and never from markup. */
export const TRY_SCRIPT = `(() => {
  'use strict';
  const form = document.querySelector('form[data-policy]');
  if (!form) return;
  const at = (id) => document.getElementById(id);
  const [text, address, key, pasted] = ['policy', 'about', 'with-key', 'answers'].map(at);
  const [said, result, button] = [at('policy-said'), at('decided'), at('decide')];
  const make = (name, words, className) => {
    const made = document.createElement(name);
    made.textContent = words;
    if (className) made.className = className;
    return made;
  };
  const ROUTES = {
    ofac: (of) => ['GET', '/api/v1/wallet/' + of + '/ofac'],
    evidence: (of) => ['GET', '/api/v1/wallet/' + of + '/score'],
    exchanges: (of) => ['GET', '/api/v1/wallet/' + of + '/cex'],
    bridges: (of) => ['GET', '/api/v1/wallet/' + of + '/bridges'],
    deployer: (of) => ['GET', '/api/v1/evm/deployer/ethereum/' + of],
    screen: () => ['POST', '/api/v1/bulk/wallet-screen'],
  };
  const parse = () => {
    const parsed = exhibitPolicy.parsePolicy(new TextEncoder().encode(text.value));
    text.setAttribute('aria-invalid', String(!parsed.ok));
    if (parsed.ok) {
      const { answers, fields } = parsed.policy;
      const asks = '. Asked for: ' + answers.join(', ') + '.';
      said.textContent = 'It reads ' + fields.join(', ') + asks;
      return parsed.policy;
    }
    said.textContent = parsed.faults.map((fault) => {
      const place = fault.line === null ? '' : ', line ' + fault.line + ', column ' + fault.column;
      const of = fault.clause === null ? '' : fault.clause + place + ': ';
      return of + fault.message + ' (' + fault.code + ')';
    }).join(' ');
    return null;
  };
  const ask = async (name) => {
    const of = address.value.trim();
    const [method, path] = ROUTES[name](encodeURIComponent(of));
    const headers = { authorization: 'Bearer ' + key.value.trim() };
    if (method === 'POST') headers['content-type'] = 'application/json';
    const body = method === 'POST' ? JSON.stringify({ addresses: [of] }) : undefined;
    const reply = await fetch(path, { method, headers, body });
    const answer = await reply.json();
    if (reply.status !== 200) throw new Error(name + ': ' + reply.status + ', ' + answer.error);
    return answer;
  };
  const answersTo = async (policy) => {
    if (pasted.value.trim() !== '') return JSON.parse(pasted.value);
    if (address.value.trim() === '') throw new Error('Type an address, or paste its answers.');
    if (key.value.trim() === '') throw new Error('Type an API key, or paste the answers.');
    const given = {};
    for (const name of policy.answers) given[name] = await ask(name);
    return given;
  };
  const WORDS = { allow: 'Allow', hold: 'Hold', could_not_check: 'Could not check' };
  const TONES = { allow: 'seen', hold: 'hit', could_not_check: 'open' };
  const VALUES = { true: 'true', false: 'false', null: 'unknown' };
  const CODES = {
    not_given: 'its answer was not given',
    not_one_address: 'the answers are not of one address',
    no_canonical_form: 'its answer has no canonical form',
    no_data: 'its answer is an absence',
    not_read: 'the answer does not tell it as read',
  };
  const fill = (id, rows) => at(id).replaceChildren(...rows);
  const row = (cells) => {
    const made = document.createElement('tr');
    made.append(...cells.map((cell, place) => {
      const own = document.createElement(place === 0 ? 'th' : 'td');
      if (place === 0) own.scope = 'row';
      own.append(cell);
      return own;
    }));
    return made;
  };
  const show = (decision) => {
    const by = decision.decided_by.join(', ');
    at('word').replaceChildren(
      make('span', WORDS[decision.decision], 'badge ' + TONES[decision.decision]),
      ' decided by ' + by + (decision.simulated ? ', on simulated data' : ''),
    );
    fill('clauses', decision.clauses.map((one) => {
      const name = document.createElement('span');
      name.append(make('code', one.name));
      const why = one.why === null ? '' : one.why;
      name.append(document.createElement('br'), make('span', why, 'quiet'));
      return row([name, one.of, VALUES[one.value]]);
    }));
    fill('unread', decision.unread.map((one) => row([make('code', one.field), CODES[one.code]])));
    at('unread').closest('section').hidden = decision.unread.length === 0;
    const hashes = decision.answers.map((one) => {
      return [one.name, one.sha256 === null ? '–' : one.sha256];
    });
    fill('hashes', [...hashes, ['policy', decision.policy_sha256]].map(([name, sha256]) =>
      row([make('code', name), make('code', sha256)])));
    at('as-json').textContent = JSON.stringify(decision, null, 2);
    result.dataset.decision = decision.decision;
    result.hidden = false;
    result.focus();
  };
  const decide = async () => {
    const policy = parse();
    if (policy === null) {
      text.focus();
      return;
    }
    button.disabled = true;
    result.hidden = true;
    try {
      if (!crypto.subtle) throw new Error('The hashes of a decision need https in this browser.');
      const given = await answersTo(policy);
      const { screen } = given;
      const isOne = screen && screen.data && Array.isArray(screen.data.results);
      if (isOne) given.screen = exhibitPolicy.screenOf(screen, 0);
      show(await exhibitPolicy.evaluatePolicy(policy, given));
    } catch (fault) {
      said.textContent = 'Could not decide. ' + fault.message;
    } finally {
      button.disabled = false;
    }
  };
  const examples = at('example');
  examples.addEventListener('change', () => {
    const chosen = document.querySelector('#' + examples.value + ' code');
    if (chosen) text.value = chosen.textContent.trim();
    parse();
  });
  text.addEventListener('input', parse);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    decide();
  });
  at('needs-script').hidden = true;
  button.disabled = false;
  parse();
})();
`;
