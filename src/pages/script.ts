// The script of every page. It shows what only a script can do, and no page needs it.

/** The script, as browsers run it: buttons that copy a text. */
export const SCRIPT = `'use strict';
(() => {
  const SHOWN_MS = 2000;
  const copy = async (button) => {
    const { copy: text } = button.dataset;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not copied';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, SHOWN_MS);
  };
  const offer = (button) => { button.hidden = false; };
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-copy]');
    if (button) copy(button);
  });
  // What is shown in full gets its button when it is opened.
  document.addEventListener('toggle', ({ target }) => {
    const text = target.matches('details.full') && target.querySelector('code');
    if (!text || target.querySelector('[data-copy]')) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy plain';
    button.dataset.copy = text.textContent;
    button.textContent = 'Copy';
    text.after(' ', button);
  }, true);
  const offerAll = () => document.querySelectorAll('[data-copy]').forEach(offer);
  offerAll();
  document.addEventListener('DOMContentLoaded', offerAll);
})();
`;
