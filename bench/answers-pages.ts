// Which pages are looked at: those of each address, and all that the navigation and the reference
// lead to.

import type { Answer, Request } from './answers-recorder.ts';
import { ADDRESSES, SHOWN_ADDRESSES } from './answers-requests.ts';

const PARTS = ['lists', 'evidence', 'entity', 'exchanges', 'bridges', 'launches', 'nothing'];
const ENTRANCES = ['/', '/docs', '/openapi.json', '/llms.txt', '/health', '/robots.txt'];
const PAGES_MAX = 400;
/** Pages of addresses are asked for by name, and forms are for who has signed in. */
const ASKED_ELSEWHERE = /^\/(address|deployer|token|search|settings|watchlist|screens|activate)/;

/** The pages of every address. */
export function addressPages(): Request[] {
  const ofAddresses = SHOWN_ADDRESSES.flatMap(([name, address]) => {
    const path = encodeURIComponent(address);
    return [
      { name: `pages/address/${name}/whole`, path: `/address/${path}` },
      ...PARTS.map((part) => ({
        name: `pages/address/${name}/${part}`,
        path: `/address/${path}/${part}`,
      })),
      { name: `pages/deployer/${name}`, path: `/deployer/ethereum/${path}` },
      { name: `pages/token/${name}`, path: `/token/ethereum/${path}` },
      { name: `pages/search/${name}`, path: `/search?q=${path}` },
    ];
  });
  const chains = ['base', 'solana', 'nowhere'].flatMap((chain) => [
    { name: `pages/deployer/on-${chain}`, path: `/deployer/${chain}/${ADDRESSES.hub}` },
    { name: `pages/token/on-${chain}`, path: `/token/${chain}/${ADDRESSES.hub}` },
    {
      name: `pages/address/bridger/on-${chain}`,
      path: `/address/${ADDRESSES.bridger}/bridges?chain=${chain}`,
    },
  ]);
  const searches = ['', 'vitalik.eth', `0x${'a'.repeat(64)}`, 'x'.repeat(301)];
  return [
    ...ofAddresses,
    ...chains,
    ...searches.map((text, at) => ({
      name: `pages/search/text-${at}`,
      path: `/search?q=${encodeURIComponent(text)}`,
    })),
  ];
}

function linksIn({ headers, body }: Answer): string[] {
  const type = headers.find(([name]) => name === 'content-type');
  if (type?.[1].startsWith('text/html') !== true) return [];
  const found = [...body.matchAll(/(?:href|src)="(\/[^"#]*)/g)];
  return found.map((one) => (one[1] ?? '/').replaceAll('&amp;', '&'));
}

/** Walks the pages that lead to each other, in the order of their links. */
export async function walkPages(record: (request: Request) => Promise<Answer>): Promise<void> {
  const known = new Set(ENTRANCES);
  for (const path of known) {
    const folder = path.startsWith('/docs/') && !path.startsWith('/docs/api/') ? 'guides' : 'pages';
    const name = `${folder}/walk${path === '/' ? '/home' : path}`;
    const answer = await record({ name, path, repeats: folder === 'pages' });
    for (const link of linksIn(answer)) {
      if (known.size < PAGES_MAX && !ASKED_ELSEWHERE.test(link)) known.add(link);
    }
  }
}
