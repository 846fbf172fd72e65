// Markdown of a stranger's hand cannot put anything into a page but text, tables and links.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderMarkdown } from './guide.tsx';

test('HTML, scripts in links and pictures of other hosts come out as text', () => {
  const html = renderMarkdown(
    [
      '<script>alert(1)</script>',
      '[a](javascript:alert(1)) [b](data:text/html,x) [c](//host/x) [d](https://host/x)',
      '![picture](https://host/x.png)',
    ].join('\n\n'),
  );
  expect(html).not.toMatch(/<script|<img|href="(?:javascript|data|\/\/)/i);
  expect(html.match(/href="[^"]*"/g)).toEqual([
    'href="https://host/x"',
    'href="https://host/x.png"',
  ]);
});

test('headings stand below the one of the page, and tables are tables', () => {
  const html = renderMarkdown('# A\n\n## B\n\n| a |\n| --- |\n| 1 |');
  expect(html).toContain('<h2>A</h2>');
  expect(html).toContain('<h3>B</h3>');
  expect(html).toContain('<td>1</td>');
});

test('whatever is written, no element but those of Markdown comes out, and no attribute runs', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '](',
      '![',
      'javascript:',
      'onerror=',
      '`',
      '\n',
      '<b x=">',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const html = renderMarkdown(pieces.join(''));
      for (const [, name] of html.matchAll(/<\/?([a-z0-9]+)/gi)) {
        expect(ELEMENTS).toContain(name);
      }
      expect(html).not.toMatch(/<[^>]*\son\w+=/i);
    }),
    { numRuns: 300 },
  );
});

const ELEMENTS = [
  ...['p', 'h2', 'h3', 'h4', 'h5', 'h6', 'em', 'strong', 's', 'code', 'pre', 'a', 'br', 'hr'],
  ...['ul', 'ol', 'li', 'blockquote', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
