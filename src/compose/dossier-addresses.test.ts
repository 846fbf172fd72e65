// Each address and transaction that a dossier names in full can be copied, and looked up at the
// explorer of its chain where the answers tell that chain; where they do not, nothing is linked.

import { expect, test } from 'vitest';
import { z } from 'zod';
import { matchKey, parseAddress, parseKnownAddress } from '../chain/address.ts';
import { CHAIN_NAMES, parseChain } from '../chain/chain.ts';
import { Reply } from '../contract/answer.ts';
import { dossier } from '../features/dossier/feature.ts';
import { ALONE_NAMES } from '../features/dossier/shapes.ts';
import { DEPOSITS, SUBJECT, world as worldOf } from '../testing/entity-world.ts';
import type { World } from '../testing/planted.ts';
import { TEST_SERVICE } from '../testing/service.ts';
import { MEMBER } from '../testing/silence-drawn.ts';
import { wholePageOf } from '../testing/whole-page.ts';
import { RING_WORLDS, WORLDS } from '../testing/worlds.ts';
import { mountedPage } from './documents.ts';

const EXPLORERS = new Map(
  CHAIN_NAMES.flatMap((chain) =>
    ['address', 'tx'].map((what) => [`${chain}.${what}`, `https://${chain}.test/${what}/{}`]),
  ),
);
const FACTS = { simulated: false, version: '0', links: [], explorers: EXPLORERS };
const [EMPTY] = WORLDS.filter(({ empty }) => empty);
if (EMPTY === undefined) throw new Error('test: no empty world');
const PAYS_IN: Pick<World, 'name' | 'subjects' | 'ports' | 'now'> = {
  ...EMPTY,
  name: 'pays into a deposit address',
  subjects: [SUBJECT],
  ports: { ...EMPTY.ports, ...worldOf({ transfers: DEPOSITS }).ports },
};

async function draw(
  { ports, now }: Pick<World, 'ports' | 'now'>,
  address: string,
  part: string | null,
): Promise<string> {
  const reading = async () => ({ may: true, pay: async () => null });
  const given = { ...ports, service: TEST_SERVICE, members: { reading } };
  const name = part === null ? 'dossier_page' : 'dossier_part_page';
  const page = dossier.pages.find(({ route }) => route.name === name);
  if (page === undefined) throw new Error(`test: no page ${name}`);
  const params = part === null ? { address } : { address, part };
  const asked = { now: () => now, signal: new AbortController().signal };
  const { handle } = mountedPage(page, given, FACTS);
  const said = await handle({ params, query: {}, body: undefined }, asked, MEMBER);
  if (!(said instanceof Reply)) throw new Error('test: refused');
  expect(said.status).toBe(200);
  return await wholePageOf(said);
}

const TX = /^(0x)?[0-9a-f]{64}$/i;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;

/** By address and transaction, the chains on which an answer tells of it. */
type Told = Map<string, Set<string>>;

/** Gathers them: what has a chain has it for all within it that has none of its own. */
function gather(value: unknown, chains: readonly string[], told: Told): void {
  if (typeof value === 'string') {
    if (parseAddress(value) === null && !TX.test(value) && !SIGNATURE.test(value)) return;
    const name = value.toLowerCase();
    told.set(name, new Set([...(told.get(name) ?? []), ...chains]));
  } else if (Array.isArray(value)) {
    for (const one of value) gather(one, chains, told);
  } else if (typeof value === 'object' && value !== null) {
    const within = chainsIn(value);
    for (const one of Object.values(value)) gather(one, within === null ? chains : within, told);
  }
}

const placed = z.object({
  chain: z.string().nullish(),
  chains: z.array(z.string()).optional(),
  assets: z.array(z.object({ chain: z.string() })).nullish(),
});

function chainsIn(value: object): readonly string[] | null {
  const { chain, chains, assets } = placed.catch({}).parse(value);
  if (typeof chain === 'string') return [chain].filter((one) => parseChain(one) !== null);
  if (chain === null) return [];
  if (chains !== undefined) return chains;
  return 'forwards' in value && assets ? assets.map((one) => one.chain) : null;
}

const UNQUOTED = [
  ['&quot;', '"'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
] as const;

/** What the answer of a part tells, if anything; `null` where it is too long for its page. */
function toldBy(html: string): Told | null {
  if (html.includes('It is too long for a page')) return null;
  const told: Told = new Map();
  const [, quoted = 'null'] = html.match(/<pre class="json"[^>]*>(.*?)<\/pre>/s) ?? [];
  const text = UNQUOTED.reduce((said, [name, sign]) => said.replaceAll(name, sign), quoted);
  gather(z.unknown().parse(JSON.parse(text)), [], told);
  return told;
}

/** The chain that an address has by its form alone. */
function chainOfForm(text: string): string[] {
  const kind = parseAddress(text)?.kind;
  return kind === 'solana' || kind === 'bitcoin' ? [kind] : [];
}

const COMPONENT =
  /<details class="full">.*?<code>([^<]+)<\/code>(.*?)<\/details>|<code>([^<]+)<\/code> <button class="copy plain" type="button" data-copy="([^"]+)" hidden>Copy<\/button>((?: <a href="[^"]*" rel="noreferrer noopener external">[^<]*<\/a>)*)/gs;

type Seen = { readonly text: string; readonly linked: readonly string[]; readonly isRow: boolean };

/** What stands in full on a page with what copies it, and all other text. */
function readPage(html: string): { readonly seen: readonly Seen[]; readonly rest: string } {
  const seen: Seen[] = [];
  const [, main = ''] = html.split('<main');
  const rest = main
    .replaceAll(/<(svg|pre|h1)\b.*?<\/\1>/gs, '')
    .replaceAll(COMPONENT, (_all, folded, foldedAfter, shown, copied, shownAfter) => {
      if (shown !== undefined) expect(copied).toBe(shown);
      const links = String(folded === undefined ? shownAfter : foldedAfter);
      const linked = [...links.matchAll(/href="https:\/\/(\w+)\.test\/\w+\/([^"]+)"/g)];
      const text = String(folded === undefined ? shown : folded);
      for (const [, , of] of linked) expect(of).toBe(text);
      seen.push({
        text,
        linked: linked.map(([, chain]) => String(chain)),
        isRow: folded !== undefined,
      });
      return '';
    })
    .replaceAll(/<[^>]*>/g, ' ');
  return { seen, rest };
}

/** The chains that were linked, and `none` where nothing was. */
const met = new Set<string>();

/** What of a page breaks the promise. */
function faultsOf(html: string, told: Told, subject: string): string[] {
  const { seen, rest } = readPage(html);
  const bare = (rest.match(/\b[0-9A-Za-z]{25,100}\b/g) ?? []).filter(
    (word) => parseKnownAddress(word) !== null || /^0x[0-9a-f]{64}$/i.test(word),
  );
  const linkedSomewhere = new Set(seen.flatMap(({ text, linked }) => (linked[0] ? [text] : [])));
  return [
    ...bare.map((word) => `stands bare: ${word}`),
    ...seen.flatMap(({ text, linked, isRow }) => {
      const chains = [...(told.get(text.toLowerCase()) ?? []), ...chainOfForm(text)];
      const guessed = linked.filter((chain) => !chains.includes(chain));
      // The head of the page links the subject at every explorer.
      const isLinked = isRow ? linked.length > 0 : linkedSomewhere.has(text);
      const missing = chains.length > 0 && !isLinked && matchKey(text) !== matchKey(subject);
      for (const one of linked.length > 0 ? linked : ['none']) met.add(one);
      return [
        ...guessed.map((chain) => `guessed ${chain} of ${text}`),
        ...(missing ? [`${text} is of ${chains.join()} and is not linked`] : []),
      ];
    }),
  ];
}

const SHOWN = [...WORLDS, ...RING_WORLDS, PAYS_IN];

test.each(SHOWN.map((world) => [world.name, world] as const))(
  '%s: what stands in full is copied, and linked where its chain is told',
  async (_name, world) => {
    for (const subject of world.subjects.slice(0, 1)) {
      const told: Told = new Map();
      for (const part of ALONE_NAMES) {
        const html = await draw(world, subject, part);
        const own = toldBy(html);
        if (own === null) return;
        for (const [name, chains] of own) {
          told.set(name, new Set([...(told.get(name) ?? []), ...chains]));
        }
        // The page of the ways has no answer of its own: it stands on those of the others.
        const at = part === 'ways' ? told : own;
        expect([subject, part, faultsOf(html, at, subject)]).toEqual([subject, part, []]);
      }
      const whole = faultsOf(await draw(world, subject, null), told, subject);
      expect([subject, whole]).toEqual([subject, []]);
    }
  },
);

test('addresses of several chains were met, and some whose chain nobody tells', () => {
  expect([...met]).toEqual(expect.arrayContaining(['ethereum', 'base', 'bitcoin', 'none']));
});
