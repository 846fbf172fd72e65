/** Asks for the errors of a rule while it is typed. Without it, the form sends the rule. */
export const EDITOR_SCRIPT = `'use strict';
(() => {
  const WAIT_MS = 250;
  const form = document.querySelector('form[data-rule]');
  if (!form) return;
  const [text, said] = [form.querySelector('textarea'), form.querySelector('output')];
  let [timer, asked] = [0, null];
  const say = (words) => { said.textContent = words; };
  const show = (answer) => {
    text.setAttribute('aria-invalid', String(!answer.ok));
    if (answer.ok) {
      say('It parses as: ' + answer.rule);
      return;
    }
    const { message, line, column } = answer.error;
    say('Line ' + line + ', column ' + column + ': ' + message);
  };
  const ask = async () => {
    if (asked) asked.abort();
    const rule = text.value;
    if (rule.trim() === '') {
      text.removeAttribute('aria-invalid');
      say('');
      return;
    }
    const now = new AbortController();
    asked = now;
    try {
      const url = form.dataset.rule + '?rule=' + encodeURIComponent(rule);
      const reply = await fetch(url, { signal: now.signal });
      const answer = await reply.json();
      if (asked !== now) return;
      if (typeof answer.ok === 'boolean') show(answer);
      else say('The rule was not parsed: the service answered ' + reply.status + '.');
    } catch (fault) {
      if (fault.name !== 'AbortError') say('The rule was not parsed: the service was not reached.');
    }
  };
  text.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });
})();
`;
