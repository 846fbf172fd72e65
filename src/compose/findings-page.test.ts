// Dust cannot fill a dossier: findings of one kind stand together with their number, and what is
// strongest stands first.

import { expect, test } from 'vitest';
import type { z } from 'zod';
import { Answer } from '../contract/answer.ts';
import { NOBODY } from '../contract/route.ts';
import { Evidence } from '../features/dossier/evidence.page.tsx';
import type { EvidenceData, PartOf } from '../features/dossier/shapes.ts';
import { timelineOf } from '../features/dossier/whole.page.tsx';
import { walletScore } from '../features/forensics/wallet-score.route.ts';
import { walletOfac } from '../features/sanctions/wallet-ofac.route.ts';
import { piece } from '../pages/layout.tsx';
import { evm } from '../testing/addresses.ts';
import { linesOf } from '../testing/silence-pages.ts';
import { WORLDS } from '../testing/worlds.ts';
import { handlerOf } from './list.ts';

type Finding = EvidenceData['findings'][number];
type Signed = Finding['initiated_by_subject'];

const SUBJECT = evm('subject');
const DUST = 500;

function findingOf(kind: string, n: number, signed: Signed): Finding {
  const at = new Date(Date.UTC(2026, 0, 1 + (n % 300))).toISOString();
  const state = { evidence: 'record', chain: 'ethereum', tx: null, block: null } as const;
  return {
    id: n.toString(16).padStart(32, '0'),
    kind,
    title: `Title of ${kind}`,
    statement: `Statement ${n} of ${kind}.`,
    evidence: [{ ...state, tx_reason: null, at, name: 'row', value: String(n) }],
    evidence_count: 1 + (n % 3),
    initiated_by_subject: signed,
    source: 'A source',
    as_of: 1_790_000_000,
  };
}

/** The answer about somebody of whom nothing is known, with these findings in it. */
async function partOf(findings: readonly Finding[]): Promise<Told> {
  const data = await dataOf(walletScore, 'wallet_score');
  return { ...told, data: { ...data, findings: [...findings] } };
}
type Told = Extract<PartOf<EvidenceData>, { state: 'ok' }>;
const told = { path: '', ran_out: false, state: 'ok', sources: [], json: '{}' } as const;

async function dataOf<S extends z.ZodType>(
  { data }: { data: S },
  name: 'wallet_score' | 'wallet_ofac',
) {
  const world = WORLDS.find(({ empty }) => empty);
  if (world === undefined) throw new Error('test: no empty world');
  const handle = handlerOf(name, world.ports);
  const asked = { now: () => world.now, signal: new AbortController().signal };
  const input = { params: { address: SUBJECT }, query: {}, body: undefined };
  const answer: unknown = await handle(input, asked, NOBODY);
  if (!(answer instanceof Answer)) throw new Error('test: no answer');
  return data.parse(answer.envelope(world.now).data);
}

const dust = Array.from({ length: DUST }, (_, n) => findingOf('dust', n, false));
const FACTS = { subject: SUBJECT, base: '', now: 1_790_000_000, alone: false };
const drawn = async (findings: readonly Finding[]) => {
  const part = await partOf(findings);
  return piece({ explorers: new Map() }, Evidence({ part, facts: FACTS, shown: null }));
};
const titlesIn = (html: string) => [...html.matchAll(/<h3>(Title[^<]*)</g)].map(([, one]) => one);

test('500 findings of one kind are one line with their number, below each stronger one', async () => {
  const strong = [
    findingOf('unknown', 0, null),
    findingOf('signed', 0, true),
    findingOf('issuer_freeze', 0, false),
    findingOf('listed_itself', 0, null),
  ];
  const html = await drawn([...dust, ...strong]);
  expect(titlesIn(html)).toEqual([
    'Title of issuer_freeze',
    'Title of listed_itself',
    'Title of signed',
    'Title of unknown',
    'Title of dust × 500',
  ]);
  expect(html).toContain(`href="/address/${SUBJECT}/evidence?kind=dust"`);
  expect(html.length).toBeLessThan((await drawn(strong)).length + 5_000);
});

test('the strongest of a kind stands for it: what the address signed before what it did not', async () => {
  const lines = linesOf(await drawn([...dust, findingOf('dust', 999, true)]));
  expect(lines).toContain('Title of dust × 501');
  expect(lines).toContain('Statement 999 of dust.');
});

const unasked = { path: '', ran_out: false, state: 'unasked', reason: '' } as const;
const others = { lists: unasked, entity: unasked, exchanges: unasked, bridges: unasked };

test('it does not fill the timeline either', async () => {
  const evidence = await partOf([...dust, findingOf('signed', 0, true)]);
  const told = timelineOf({ ...others, launches: unasked, evidence });
  expect(told.map(({ says }) => says).toSorted()).toEqual([
    'Title of dust: the first of 500',
    'Title of signed',
  ]);
});

test('each hop to a listed address names whom it reaches, whoever paid: never the subject', async () => {
  const data = await dataOf(walletOfac, 'wallet_ofac');
  const [between, listed] = [evm('between'), evm('listed')];
  const transfer = {
    chain: 'ethereum',
    tx: `0x${'1'.repeat(64)}`,
    token: null,
    symbol: 'ETH',
    amount: '1',
    raw_amount: '1',
    token_id: null,
    usd: null,
    at: '2026-01-01T00:00:00.000Z',
    initiated_by_subject: false,
    success: true,
  };
  const hop = (from: string, to: string, direction: 'in' | 'out') => {
    return { ...transfer, from, to, initiator: from, direction };
  };
  const hops_detail = [hop(between, SUBJECT, 'in'), hop(between, listed, 'out')];
  const found = { found: true, hops: 2, path: [SUBJECT, between, listed] };
  const proximity = { ...data.proximity, ...found, hops_detail };
  const lists = { ...told, data: { ...data, proximity } };
  const moments = timelineOf({ ...others, lists, evidence: unasked, launches: unasked });
  expect(moments.map(({ says, who }) => [says, who?.of])).toEqual([
    ['Hop 1 of 2 to a listed address, on ethereum, reaches', between],
    ['Hop 2 of 2 to a listed address, on ethereum, reaches', listed],
  ]);
});
