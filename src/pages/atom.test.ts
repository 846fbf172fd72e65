// A feed is well-formed XML whatever its texts hold.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atomFeed } from './atom.ts';

const feedWith = (text: string) =>
  atomFeed('https://exhibit.example', {
    title: text,
    updated: 1_790_000_000,
    self: '/x.atom',
    page: '/x',
    entries: [{ id: '1', title: text, updated: 0, link: { type: 'text/html', href: text }, text }],
  });

test('it names itself, its page and each entry, with times of RFC 3339', () => {
  const feed = feedWith('A & <B>');
  expect(feed).toContain('<title>A &amp; &lt;B&gt;</title>');
  expect(feed).toContain('<updated>2026-09-21T14:13:20.000Z</updated>');
  expect(feed).toContain(
    '<link rel="self" type="application/atom+xml" href="https://exhibit.example/x.atom"/>',
  );
  expect(feed).toContain('<id>https://exhibit.example/x.atom</id>');
  expect(feed).toContain('<id>https://exhibit.example/x.atom#1</id>');
  expect(feed).toContain(
    '<link rel="alternate" type="text/html" href="https://exhibit.example/x"/>',
  );
  expect(feed).toContain('href="https://exhibit.exampleA &amp; &lt;B&gt;"');
});

test('no text can end an element or an attribute, nor put in what XML does not allow', () => {
  const elements = (feed: string) => feed.match(/<[^>]*>/g)?.map((one) => one.split(/[ >]/)[0]);
  const plain = elements(feedWith('x'));
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const feed = feedWith(text);
      expect(elements(feed)).toEqual(plain);
      expect([...feed].filter((one) => !isXml(one))).toEqual([]);
    }),
  );
});

/** Whether XML 1.0 has this character (section 2.2). */
function isXml(character: string): boolean {
  const code = Number(character.codePointAt(0));
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code < 0xd800 || (code >= 0xe000 && code !== 0xfffe && code !== 0xffff);
}
