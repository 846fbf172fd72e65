// The dossier of an address, whole or one part alone. On the whole page the head and the answer of
// the list stand at once; every other part follows as it is read, and a slow part delays no other.
// `whole.page.tsx` draws that page, and `shapes.ts` holds the shapes of its parts.

import { setMaxListeners } from 'node:events';
import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { checksumAddress, parseKnownAddress } from '../../chain/address.ts';
import type { Answer, Reply } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { html } from '../../contract/reply.ts';
import {
  type Caller,
  type Handler,
  type PlainHandler,
  plainRoute,
  type RequestContext,
} from '../../contract/route.ts';
import { addressText } from '../../contract/wire.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME } from '../../evidence/waiting.ts';
import { type PageFacts, page, refusalSentence } from '../../pages/layout.tsx';
import { walletBridges } from '../bridges/wallet-bridges.route.ts';
import { deployerRecord } from '../deployers/deployer-record.route.tsx';
import { type walletEntity, walletEntityData } from '../entities/wallet-entity.route.ts';
import { walletCex } from '../exchanges/wallet-cex.route.ts';
import { walletScore } from '../forensics/wallet-score.route.ts';
import { solanaDeployer } from '../launches/solana-deployer.route.ts';
import { receiptsIndex } from '../receipts/receipts-index.route.tsx';
import { walletOfac } from '../sanctions/wallet-ofac.route.ts';
import { EntityPart } from './entity.page.tsx';
import { Evidence } from './evidence.page.tsx';
import { SubjectActions, SubjectHead, UnreadNotice } from './head.page.tsx';
import { Bridges, Exchanges, Launches, Lists } from './lists.page.tsx';
import { notFoundPage, problemOf } from './not-found.page.tsx';
import { Ways } from './picture.page.tsx';
import type { PartFacts } from './section.page.tsx';
import {
  ALONE_NAMES,
  type AloneName,
  type BridgeTraceChain,
  type DossierHead,
  type FindingsRange,
  type LaunchesData,
  type ListsData,
  type PartName,
  type PartOf,
  type PartReaders,
} from './shapes.ts';
import { wholePage } from './whole.page.tsx';

const VISITOR = { surface: 'web', method: 'GET', access: 'visitor' } as const;
const KIND_CHARS_MAX = 60;
const PAGES_MAX = 1_000;
/** The parts that tell of neighbours. */
const WAYS_PARTS = ['lists', 'evidence', 'entity'] as const satisfies readonly PartName[];
const PAGES = { 200: html(), 400: html() } as const;

export const dossierPage = plainRoute({
  ...VISITOR,
  name: 'dossier_page',
  path: '/address/{address}',
  summary: 'Everything that is answered of an address, for people.',
  params: z.strictObject({ address: addressText }),
  responses: PAGES,
});

export const dossierPartPage = plainRoute({
  ...VISITOR,
  name: 'dossier_part_page',
  path: '/address/{address}/{part}',
  summary: 'One part of the dossier of an address, with its JSON.',
  params: z.strictObject({ address: addressText, part: z.enum(ALONE_NAMES) }),
  query: z.strictObject({
    chain: walletBridges.query.shape.chain.unwrap().optional(),
    /** The findings of one kind, and which page of them or of the neighbours. */
    kind: z.string().max(KIND_CHARS_MAX).optional(),
    page: z.coerce.number().int().min(1).max(PAGES_MAX).optional(),
  }),
  responses: PAGES,
});

/**
 * How long a part of the whole dossier is read, and how much later it counts as late where its
 * handler did not notice that its time was over; `headMs`: how long the head waits for the list.
 * All in milliseconds.
 */
export type DossierLimits = {
  readonly partMs: number;
  readonly graceMs: number;
  readonly headMs: number;
};
const LIMITS: DossierLimits = { partMs: 8_000, graceMs: 500, headMs: 200 };

/** The handlers that need no provider, and those that may ask one. */
type HeldHandlers = {
  readonly lists: Handler<typeof walletOfac>;
  readonly evidence: Handler<typeof walletScore>;
  readonly exchanges: Handler<typeof walletCex>;
};
type AllHandlers = HeldHandlers & {
  readonly entity: PlainHandler<typeof walletEntity>;
  readonly bridges: Handler<typeof walletBridges>;
};
type LaunchHandlers = {
  readonly ethereum: Handler<typeof deployerRecord>;
  readonly solana: Handler<typeof solanaDeployer>;
};

export type DossierPorts = {
  readonly all: AllHandlers;
  /** The same where nothing but what is held may be asked, for the reason given. */
  readonly held: (why: Why) => HeldHandlers;
  /** Launches are on record: nobody is walked for a page. */
  readonly launches: LaunchHandlers;
  readonly receipts: Handler<typeof receiptsIndex>;
  readonly reading: (caller: Caller) => Promise<Permit>;
  readonly base: () => string;
};

type Permit =
  | { readonly may: true; readonly pay: () => Promise<Refusal | null> }
  | { readonly may: false; readonly why: Why };

/** @internal The handler of the whole dossier. */
export function dossierHandler(
  ports: DossierPorts,
  facts: PageFacts,
  limits: DossierLimits = LIMITS,
): PlainHandler<typeof dossierPage> {
  return async ({ params: { address } }, asked, caller) => {
    const permit = await ports.reading(caller);
    const head = headOf(ports, permit, { address, asked, caller });
    const asking: Asking = { ...head, chain: MAIN_CHAIN, ...limitWait(asked, limits) };
    const lists = await listsAtHand(ports, permit, asking, limits);
    if (isNoAddress({ ...head, lists })) {
      return dossierPage.reply(400, notFoundPage(facts, address, problemOf(address)));
    }
    const readers = paidReaders(permit, readersOf(ports, permit, asking));
    const { beginning, rest } = wholePage(facts, head, lists, readers);
    return dossierPage.reply(200, beginning).followedBy(rest);
  };
}

/** @internal The handler of one part, which has all the time of a request. */
export function dossierPartHandler(
  ports: DossierPorts,
  facts: PageFacts,
): PlainHandler<typeof dossierPartPage> {
  return async ({ params: { address, part: name }, query }, asked, caller) => {
    const permit = await ports.reading(caller);
    const head = headOf(ports, permit, { address, asked, caller });
    const chain = query.chain === undefined ? MAIN_CHAIN : query.chain;
    const readers = readersOf(ports, permit, { ...head, chain, asked, patience: null });
    const parts = await Promise.all(
      (name === 'ways' ? WAYS_PARTS : [name]).map((one) => readers[one]()),
    );
    const lists = head.kind === 'other' ? await readers.lists() : null;
    if (isNoAddress({ ...head, lists })) {
      return dossierPartPage.reply(400, notFoundPage(facts, address, problemOf(address)));
    }
    const isAnswered = parts.some(({ state }) => state !== 'refused');
    const isPaid = permit.may && name !== 'launches' && isAnswered;
    const unpaid = isPaid ? await permit.pay() : null;
    if (unpaid !== null) return unpaid;
    const range = { kind: query.kind, page: query.page };
    const drawn = await drawPart(head, name, readers, range);
    return dossierPartPage.reply(200, partPage(facts, head, drawn));
  };
}

// A text of no known form may still stand on a list, letter by letter: one that was read and holds
// it. Where no list was read, it is no address, whatever it asks for.
function isNoAddress({
  subject,
  kind,
  lists,
}: Pick<DossierHead, 'subject' | 'kind'> & { readonly lists: PartOf<ListsData> | null }): boolean {
  if (kind !== 'other' || lists?.state === 'ok') return false;
  return lists === null || lists.state === 'refused' || parseKnownAddress(subject) === null;
}

type Request = {
  readonly address: string;
  readonly asked: RequestContext;
  readonly caller: Caller;
};

function headOf(
  ports: DossierPorts,
  permit: Permit,
  { address, asked, caller }: Request,
): DossierHead {
  const known = parseKnownAddress(address);
  const written = known?.kind === 'evm' ? checksumAddress(known.address) : known?.address;
  return {
    subject: written === undefined ? address : written,
    kind: known === null ? 'other' : known.kind,
    now: asked.now(),
    base: ports.base(),
    caller,
    unread: permit.may
      ? null
      : { reason: permit.why.reason, signIn: permit.why.code === 'page_of_nobody' },
  };
}

const MAIN_CHAIN = 'ethereum';

/** How long a part is waited for; `null`: as long as its handler takes. */
type Waiting = { readonly asked: RequestContext; readonly patience: AbortSignal | null };

function limitWait({ now, signal }: RequestContext, { partMs, graceMs }: DossierLimits): Waiting {
  const own = AbortSignal.any([signal, AbortSignal.timeout(partMs)]);
  // Every look-up of a page listens: node would take as many for a leak and print a warning.
  setMaxListeners(0, own);
  return { asked: { now, signal: own }, patience: AbortSignal.timeout(partMs + graceMs) };
}

type Asking = DossierHead & Waiting & { readonly chain: BridgeTraceChain };

function inputOf({ subject, kind }: DossierHead) {
  const address = kind === 'evm' ? subject.toLowerCase() : subject;
  return { params: { address }, query: {}, body: undefined };
}

function pathOf(head: DossierHead): string {
  return encodeURIComponent(inputOf(head).params.address);
}

/**
 * The answer of the lists alone, without a walk: it is in memory. An address of no known form is on
 * no page before the list has said that it holds it.
 */
function listsAtHand(
  ports: DossierPorts,
  permit: Permit,
  asking: Asking,
  { headMs }: DossierLimits,
): Promise<PartOf<ListsData>> {
  const { lists } = ports.held(permit.may ? BEING_READ : permit.why);
  const patience = asking.kind === 'other' ? asking.patience : AbortSignal.timeout(headMs);
  return partOf(
    `/api/v1/wallet/${pathOf(asking)}/ofac`,
    parser(walletOfac.data),
    () => lists(inputOf(asking), asking.asked, asking.caller),
    { ...asking, patience },
  );
}

const BEING_READ = why('page_being_read');

/** Reads each part once, whoever of the page asks for it. */
function readersOf(ports: DossierPorts, permit: Permit, asking: Asking): PartReaders {
  const { asked, caller, chain } = asking;
  const held = permit.may ? ports.all : ports.held(permit.why);
  const input = inputOf(asking);
  const inPath = pathOf(asking);
  const wallet = `/api/v1/wallet/${inPath}`;
  function reader<S extends z.ZodType>(
    path: string,
    schema: S,
    ask: () => Promise<HandlerAnswer>,
  ): () => Promise<PartOf<z.output<S>>> {
    return once(() => partOf(path, parser(schema), ask, asking));
  }
  function outsideReader<S extends z.ZodType>(
    path: string,
    schema: S,
    ask: (all: AllHandlers) => Promise<HandlerAnswer>,
  ): () => Promise<PartOf<z.output<S>>> {
    if (permit.may) return reader(path, schema, () => ask(ports.all));
    const { reason } = permit.why;
    return async () => ({ path, ran_out: false, state: 'unasked', reason });
  }
  const onChain = { ...input, query: { chain } };
  return {
    lists: reader(`${wallet}/ofac`, walletOfac.data, () => held.lists(input, asked, caller)),
    evidence: reader(`${wallet}/score`, walletScore.data, () =>
      held.evidence(input, asked, caller),
    ),
    entity: outsideReader(`/api/wallet/${inPath}/entity`, walletEntityData, ({ entity }) =>
      entity(input, asked, caller),
    ),
    exchanges: reader(`${wallet}/cex`, walletCex.data, () => held.exchanges(input, asked, caller)),
    bridges: outsideReader(`${wallet}/bridges?chain=${chain}`, walletBridges.data, ({ bridges }) =>
      bridges(onChain, asked, caller),
    ),
    launches: once(() => launchesPart(ports, asking)),
    receipts: reader(`/api/v1/receipts?address=${inPath}`, receiptsIndex.data, () =>
      ports.receipts({ ...input, params: {}, query: input.params }, asked, caller),
    ),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    if (reading === null) reading = read();
    return reading;
  };
}

/** The same, charged once, when the first part that asked a provider has its answer. */
function paidReaders(permit: Permit, readers: PartReaders): PartReaders {
  if (!permit.may) return readers;
  const pay = once(permit.pay);
  function chargedReader<D>(read: () => Promise<PartOf<D>>): () => Promise<PartOf<D>> {
    return once(async () => {
      const part = await read();
      const unpaid = part.state === 'refused' ? null : await pay();
      if (unpaid === null) return part;
      return { path: part.path, ran_out: false, state: 'unasked', reason: refusalSentence(unpaid) };
    });
  }
  return {
    ...readers,
    lists: chargedReader(readers.lists),
    evidence: chargedReader(readers.evidence),
    entity: chargedReader(readers.entity),
    exchanges: chargedReader(readers.exchanges),
    bridges: chargedReader(readers.bridges),
  };
}

function parser<S extends z.ZodType>(schema: S): (data: unknown) => z.output<S> {
  return (data) => schema.parse(data);
}

async function launchesPart(
  { launches }: DossierPorts,
  asking: Asking,
): Promise<PartOf<LaunchesData>> {
  const { kind, asked, caller } = asking;
  const input = inputOf(asking);
  if (kind === 'solana') {
    return partOf(
      `/api/v1/solana/deployer/${pathOf(asking)}`,
      (data): LaunchesData => ({ chain: 'solana', wallet: solanaDeployer.data.parse(data) }),
      () => launches.solana(input, asked, caller),
      asking,
    );
  }
  const params = { chain: MAIN_CHAIN, ...input.params };
  return partOf(
    `/api/v1/evm/deployer/${MAIN_CHAIN}/${pathOf(asking)}`,
    (data): LaunchesData => ({ chain: MAIN_CHAIN, record: deployerRecord.data.parse(data) }),
    () => launches.ethereum({ ...input, params }, asked, caller),
    asking,
  );
}

type HandlerAnswer =
  | Pick<Answer<never>, 'state' | 'why' | 'envelope' | 'bytes'>
  | Pick<Reply<never>, 'body' | 'bytes'>
  | Refusal;

/** The answer of a part's handler, or its absence within the time. */
async function partOf<D>(
  path: string,
  parse: (data: unknown) => D,
  ask: () => Promise<HandlerAnswer>,
  { asked, patience }: Waiting,
): Promise<PartOf<D>> {
  const said = patience === null ? await ask() : await inTime(ask, patience);
  if (said === OUT_OF_TIME) return { path, ran_out: true, state: 'late', reason: LATE };
  const of = { path, ran_out: asked.signal.aborted };
  if (said instanceof Refusal) {
    if (said.code !== 'bad_input') throw new Error(`${path}: ${said.code}`);
    return { ...of, state: 'refused', reason: OTHER_FORMS };
  }
  const json = said.bytes(asked.now()).toString();
  if (!('envelope' in said)) {
    return { ...of, state: 'ok', data: parse(said.body), sources: [], json };
  }
  const { sources, data } = said.envelope(asked.now());
  if (said.state === 'ok') return { ...of, state: 'ok', data: parse(data), sources, json };
  if (said.why === null) throw new Error(`${path}: an absence without a reason`);
  return { ...of, state: said.state, ...said.why, sources, json };
}

const OTHER_FORMS = 'This part is about addresses of other forms.';
const LATE = 'It was not read in the time that a whole dossier has.';

async function drawPart(
  { subject, base, now, kind }: DossierHead,
  name: AloneName,
  readers: PartReaders,
  range: FindingsRange,
): Promise<ComponentChildren> {
  const facts: PartFacts = { subject, base, now, alone: true };
  switch (name) {
    case 'lists':
      return <Lists part={await readers.lists()} facts={facts} />;
    case 'evidence':
      return <Evidence part={await readers.evidence()} facts={facts} shown={range} />;
    case 'entity':
      return <EntityPart part={await readers.entity()} facts={facts} />;
    case 'exchanges':
      return <Exchanges part={await readers.exchanges()} facts={facts} />;
    case 'bridges':
      return <Bridges part={await readers.bridges()} facts={facts} kind={kind} />;
    case 'launches':
      return <Launches part={await readers.launches()} facts={facts} />;
    case 'ways': {
      const [lists, evidence, entity] = await Promise.all([
        readers.lists(),
        readers.evidence(),
        readers.entity(),
      ]);
      return <Ways parts={{ lists, evidence, entity }} subject={subject} shown={range} />;
    }
  }
}

function partPage(facts: PageFacts, head: DossierHead, part: ComponentChildren): string {
  const { subject } = head;
  return page({
    ...facts,
    title: `Dossier of ${subject}`,
    current: '/address',
    children: (
      <>
        <SubjectHead head={head} />
        <SubjectActions head={head} />
        <p>
          <a href={`/address/${encodeURIComponent(subject)}`}>The whole dossier</a>
        </p>
        <UnreadNotice head={head} />
        {part}
      </>
    ),
  });
}
