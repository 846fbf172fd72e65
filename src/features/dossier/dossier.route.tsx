// A part that is slow holds nobody up: it is told as not read in time, and has a page of its own.

import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { checksumAddress, parseKnownAddress } from '../../chain/address.ts';
import type { Answer, Reply } from '../../contract/answer.ts';
import { REFUSALS, Refusal } from '../../contract/refusals.ts';
import { html } from '../../contract/reply.ts';
import {
  type Caller,
  type Handler,
  type PlainHandler,
  plainRoute,
  type RequestContext,
} from '../../contract/route.ts';
import { addressText } from '../../contract/wire.ts';
import { listOrNone } from '../../evidence/measure.ts';
import type { Why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME } from '../../evidence/waiting.ts';
import { type PageFacts, page, Search } from '../../pages/layout.tsx';
import { Address, Badge, Moment } from '../../pages/words.tsx';
import { walletBridges } from '../bridges/wallet-bridges.route.ts';
import { deployerRecord } from '../deployers/deployer-record.route.tsx';
import { type walletEntity, walletEntityData } from '../entities/wallet-entity.route.ts';
import { walletCex } from '../exchanges/wallet-cex.route.ts';
import { walletScore } from '../forensics/wallet-score.route.ts';
import { solanaDeployer } from '../launches/solana-deployer.route.ts';
import { walletOfac } from '../sanctions/wallet-ofac.route.ts';
import { EntityPart } from './entity.page.tsx';
import { Evidence } from './evidence.page.tsx';
import { Bridges, Exchanges, Launches, Lists } from './lists.page.tsx';
import {
  bridgesVerdict,
  entityVerdict,
  evidenceVerdict,
  exchangesVerdict,
  launchesVerdict,
  listVerdict,
  otherListsVerdict,
  type PartFacts,
  pathVerdict,
  type Verdict,
} from './section.page.tsx';
import {
  type BridgesData,
  type BridgeTraceChain,
  type Dossier,
  type DossierPages,
  type DossierParts,
  type EvidenceData,
  type ExchangesData,
  type LaunchesData,
  type ListsData,
  PART_NAMES,
  type PartName,
  type PartOf,
} from './shapes.ts';

const VISITOR = { surface: 'web', method: 'GET', access: 'visitor' } as const;
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
  params: z.strictObject({ address: addressText, part: z.enum(PART_NAMES) }),
  query: z.strictObject({ chain: walletBridges.query.shape.chain.unwrap().optional() }),
  responses: PAGES,
});

/**
 * How long a part of the whole dossier is read, in milliseconds, and how much later it counts as
 * late where its handler did not notice that its time was over.
 */
export type DossierLimits = { readonly partMs: number; readonly graceMs: number };
const LIMITS: DossierLimits = { partMs: 8_000, graceMs: 500 };

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

/** The ports of the dossier. */
export type DossierPorts = {
  readonly all: AllHandlers;
  /** The same where nothing but what is held may be asked, for the reason given. */
  readonly held: (why: Why) => HeldHandlers;
  /** Launches are on record: nobody is walked for a page. */
  readonly launches: LaunchHandlers;
  readonly reading: (caller: Caller) => Promise<Permit>;
  readonly base: () => string;
};

type Permit =
  | { readonly may: true; readonly pay: () => Promise<Refusal | null> }
  | { readonly may: false; readonly why: Why };

/** @internal The handler of the whole dossier. */
export function dossierHandler(
  desk: DossierPorts,
  draw: DossierPages,
  limits: DossierLimits = LIMITS,
): PlainHandler<typeof dossierPage> {
  return async ({ params: { address } }, asked, caller) => {
    const question = { address, names: PART_NAMES, chain: null, caller };
    const read = await readDossier(desk, question, limitWait(asked, limits));
    if (read instanceof Refusal) return read;
    if (isNoAddress(read)) return dossierPage.reply(400, draw.notFound(address, NO_ADDRESS));
    return dossierPage.reply(200, draw.whole(read));
  };
}

/** @internal The handler of one part, which has all the time of a request. */
export function dossierPartHandler(
  desk: DossierPorts,
  draw: DossierPages,
): PlainHandler<typeof dossierPartPage> {
  return async ({ params: { address, part }, query }, asked, caller) => {
    const chain = query.chain === undefined ? null : query.chain;
    const question = { address, names: [part], chain, caller };
    const read = await readDossier(desk, question, { asked, patience: null });
    if (read instanceof Refusal) return read;
    if (isNoAddress(read)) return dossierPartPage.reply(400, draw.notFound(address, NO_ADDRESS));
    return dossierPartPage.reply(200, draw.part(read, part));
  };
}

const NO_ADDRESS = 'That is no address of a form that is known here.';

// A text of no known form may still stand on a list, letter by letter: one that was read and holds
// it. Where no list was read, it is no address, whatever it asks for.
function isNoAddress({
  subject,
  kind,
  parts: { lists },
}: Pick<Dossier, 'subject' | 'kind' | 'parts'>): boolean {
  if (kind !== 'other' || lists?.state === 'ok') return false;
  return lists === null || lists.state === 'refused' || parseKnownAddress(subject) === null;
}

type Question = {
  readonly address: string;
  readonly names: readonly PartName[];
  readonly chain: BridgeTraceChain | null;
  readonly caller: Caller;
};

async function readDossier(
  desk: DossierPorts,
  { address, names, chain, caller }: Question,
  waiting: Waiting,
): Promise<Dossier | Refusal> {
  const permit = await desk.reading(caller);
  const known = parseKnownAddress(address);
  const kind = known === null ? 'other' : known.kind;
  const subject = known === null ? address : known.address;
  const parts = await partsOf(desk, permit, {
    subject,
    kind,
    names,
    caller,
    chain: chain === null ? MAIN_CHAIN : chain,
    ...waiting,
  });
  const isAnswered =
    !isNoAddress({ subject, kind, parts }) &&
    Object.values(parts).some((part) => part !== null && part.state !== 'refused');
  const isRead = permit.may && isAnswered && names.some((name) => name !== 'launches');
  const unpaid = isRead ? await permit.pay() : null;
  if (unpaid !== null) return unpaid;
  const signIn = !permit.may && permit.why.code === 'page_of_nobody';
  return {
    subject: known?.kind === 'evm' ? checksumAddress(known.address) : subject,
    kind,
    now: waiting.asked.now(),
    base: desk.base(),
    unread: permit.may ? null : { reason: permit.why.reason, signIn },
    parts,
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

type Asking = Waiting & {
  readonly subject: string;
  readonly kind: Dossier['kind'];
  readonly names: readonly PartName[];
  readonly chain: BridgeTraceChain;
  readonly caller: Caller;
};

async function partsOf(desk: DossierPorts, permit: Permit, asking: Asking): Promise<DossierParts> {
  const { subject, names, asked, caller, chain } = asking;
  const held = permit.may ? desk.all : desk.held(permit.why);
  const all = permit.may ? desk.all : null;
  const input = { params: { address: subject }, query: {}, body: undefined };
  const onChain = { ...input, query: { chain } };
  const inPath = encodeURIComponent(subject);
  const wallet = `/api/v1/wallet/${inPath}`;
  async function part<D>(
    name: PartName,
    path: string,
    parse: (data: unknown) => D,
    ask: (() => Promise<HandlerAnswer>) | null,
  ): Promise<PartOf<D> | null> {
    if (!names.includes(name)) return null;
    if (ask === null) {
      if (permit.may) throw new Error(`${path}: may be asked, and was not`);
      return { path, ran_out: false, state: 'unasked', reason: permit.why.reason };
    }
    return partOf(path, parse, ask, asking);
  }
  const [lists, evidence, entity, exchanges, bridges, launches] = await Promise.all([
    part('lists', `${wallet}/ofac`, parser(walletOfac.data), () =>
      held.lists(input, asked, caller),
    ),
    part('evidence', `${wallet}/score`, parser(walletScore.data), () =>
      held.evidence(input, asked, caller),
    ),
    part(
      'entity',
      `/api/wallet/${inPath}/entity`,
      parser(walletEntityData),
      all === null ? null : () => all.entity(input, asked, caller),
    ),
    part('exchanges', `${wallet}/cex`, parser(walletCex.data), () =>
      held.exchanges(input, asked, caller),
    ),
    part(
      'bridges',
      `${wallet}/bridges?chain=${chain}`,
      parser(walletBridges.data),
      all === null ? null : () => all.bridges(onChain, asked, caller),
    ),
    names.includes('launches') ? launchesPart(desk, asking) : null,
  ]);
  return { lists, evidence, entity, exchanges, bridges, launches };
}

function parser<S extends z.ZodType>(schema: S): (data: unknown) => z.output<S> {
  return (data) => schema.parse(data);
}

async function launchesPart(
  { launches }: DossierPorts,
  asking: Asking,
): Promise<PartOf<LaunchesData>> {
  const { subject, kind, asked, caller } = asking;
  if (kind === 'solana') {
    const input = { params: { address: subject }, query: {}, body: undefined };
    return partOf(
      `/api/v1/solana/deployer/${encodeURIComponent(subject)}`,
      (data): LaunchesData => ({ chain: 'solana', wallet: solanaDeployer.data.parse(data) }),
      () => launches.solana(input, asked, caller),
      asking,
    );
  }
  const params = { chain: MAIN_CHAIN, address: subject };
  return partOf(
    `/api/v1/evm/deployer/${MAIN_CHAIN}/${encodeURIComponent(subject)}`,
    (data): LaunchesData => ({ chain: MAIN_CHAIN, record: deployerRecord.data.parse(data) }),
    () => launches.ethereum({ params, query: {}, body: undefined }, asked, caller),
    asking,
  );
}

/** The answer of any route's handler. */
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
    const { error } = REFUSALS.bad_input.body.parse(said.body);
    return { ...of, state: 'refused', reason: error };
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

const LATE = 'It was not read in the time that a whole dossier has.';

// The page shows the state of each part first, then each part with what was checked and what was
// not.

/** @internal The pages of the dossier. */
export function dossierPages(facts: PageFacts): DossierPages {
  const dossierPageOf = (dossier: Dossier, children: preact.ComponentChildren) =>
    page({ ...facts, title: `Dossier of ${dossier.subject}`, current: '/address', children });
  return {
    whole: (dossier) => dossierPageOf(dossier, <Whole dossier={dossier} />),
    part: (dossier, name) => dossierPageOf(dossier, <Alone dossier={dossier} name={name} />),
    notFound: (sought, problem) =>
      page({
        ...facts,
        title: 'Search',
        current: '/search',
        children: <NotFound sought={sought} problem={problem} />,
      }),
  };
}

function NotFound({ sought, problem }: { sought: string; problem: string }) {
  return (
    <>
      <h1>No such address</h1>
      <p class="lead" role="alert">
        {problem}
      </p>
      <Search value={sought} />
      <p class="quiet">Nothing was looked up, so this says nothing about anybody.</p>
    </>
  );
}

const KINDS: { readonly [K in Dossier['kind']]: string } = {
  evm: 'EVM address',
  solana: 'Solana address',
  bitcoin: 'Bitcoin address',
  tron: 'Tron address',
  other: 'Address of a form that is screened by lists alone',
};

function Whole({ dossier }: { dossier: Dossier }) {
  const { parts, subject } = dossier;
  return (
    <>
      <Head dossier={dossier} />
      <Unread unread={dossier.unread} subject={subject} />
      <Glance parts={parts} />
      {PART_NAMES.map((name) => (
        <PartView key={name} dossier={dossier} name={name} alone={false} />
      ))}
      <Timeline parts={parts} />
    </>
  );
}

function Alone({ dossier, name }: { dossier: Dossier; name: PartName }) {
  const { subject } = dossier;
  return (
    <>
      <Head dossier={dossier} />
      <p>
        <a href={`/address/${encodeURIComponent(subject)}`}>The whole dossier</a>
      </p>
      <Unread unread={dossier.unread} subject={subject} />
      <PartView dossier={dossier} name={name} alone={true} />
    </>
  );
}

function Head({ dossier: { subject, kind, parts } }: { dossier: Dossier }) {
  const { evidence } = parts;
  const told = evidence?.state === 'ok' ? evidence.data : null;
  const isToken = told !== null && told.facts.kind === 'token';
  return (
    <header class="dossier">
      <p class="eyebrow">{KINDS[kind]}</p>
      <h1>
        <code>{subject}</code>
      </h1>
      {told !== null && told.label !== null && (
        <p class="lead">
          {told.label.name},{' '}
          <span class="quiet">a label of {told.label.confidence} confidence</span>
        </p>
      )}
      {(isToken || kind === 'solana') && (
        <p>
          <a href={`/token/${kind === 'solana' ? 'solana' : 'ethereum'}/${subject}`}>
            {isToken ? 'It is a token: see who made it' : 'Who made it, where it is a token'}
          </a>
        </p>
      )}
    </header>
  );
}

function Unread({ unread, subject }: Pick<Dossier, 'unread' | 'subject'>) {
  if (unread === null) return null;
  return (
    <p class="notice" role="note">
      {unread.reason}{' '}
      {unread.signIn && (
        <>
          <a href="/activate">Sign in</a>, then open{' '}
          <a href={`/address/${encodeURIComponent(subject)}`}>this dossier</a> again. See also{' '}
          <a href="/pricing">the plans</a>.
        </>
      )}
    </p>
  );
}

type GlanceLine = readonly [name: PartName, title: string, verdict: Verdict];

function glancesOf({
  lists,
  evidence,
  entity,
  exchanges,
  bridges,
  launches,
}: DossierParts): GlanceLine[] {
  return [
    ...(lists === null
      ? []
      : [
          ['lists', 'Sanctions list', listVerdict(lists)] as const,
          ['lists', 'Other lists', otherListsVerdict(lists)] as const,
          ['lists', 'Two hops', pathVerdict(lists)] as const,
        ]),
    ...(evidence === null ? [] : [['evidence', 'Findings', evidenceVerdict(evidence)] as const]),
    ...(entity === null ? [] : [['entity', 'Ties', entityVerdict(entity)] as const]),
    ...(exchanges === null
      ? []
      : [['exchanges', 'Exchanges', exchangesVerdict(exchanges)] as const]),
    ...(bridges === null ? [] : [['bridges', 'Bridges', bridgesVerdict(bridges)] as const]),
    ...(launches === null ? [] : [['launches', 'Launches', launchesVerdict(launches)] as const]),
  ];
}

function Glance({ parts }: { parts: DossierParts }) {
  const glanced = glancesOf(parts);
  const isShort = Object.values(parts).some((part) => part?.ran_out === true);
  return (
    <section class="glance" aria-labelledby="glance">
      <h2 id="glance">At a glance</h2>
      {isShort && (
        <p class="notice" role="note">
          Not everything was read in the time that a page has. What was read is kept: load the page
          again, or open a part alone, which has more time.
        </p>
      )}
      <ul>
        {glanced.map(([name, title, verdict]) => (
          <li key={title} class={verdict.tone}>
            <Badge {...verdict} />
            <a href={`#${name}`}>{title}</a>
            <p>{verdict.says}</p>
          </li>
        ))}
      </ul>
      <p class="quiet">
        “Inferred” is a likelihood, with its weight and whether that is measured or assumed. “None
        found” is about what was read, and clears nobody. “Not checked” says nothing at all.
      </p>
    </section>
  );
}

type PartViewProps = { dossier: Dossier; name: PartName; alone: boolean };

function PartView({ dossier, name, alone }: PartViewProps) {
  const { subject, base, now, parts } = dossier;
  const facts: PartFacts = { subject, base, now, alone };
  const { lists, evidence, entity, exchanges, bridges, launches } = parts;
  switch (name) {
    case 'lists':
      return lists === null ? null : <Lists part={lists} facts={facts} />;
    case 'evidence':
      return evidence === null ? null : <Evidence part={evidence} facts={facts} />;
    case 'entity':
      return entity === null ? null : <EntityPart part={entity} facts={facts} />;
    case 'exchanges':
      return exchanges === null ? null : <Exchanges part={exchanges} facts={facts} />;
    case 'bridges':
      return bridges === null ? null : <Bridges part={bridges} facts={facts} />;
    case 'launches':
      return launches === null ? null : <Launches part={launches} facts={facts} />;
  }
}

/** Moments that are shown, the newest. */
const MOMENTS_MAX = 30;

function Timeline({ parts }: { parts: DossierParts }) {
  const all = timelineOf(parts);
  return (
    <section class="part" aria-labelledby="timeline">
      <header>
        <h2 id="timeline">When it happened</h2>
      </header>
      {all.length === 0 ? (
        <p class="nothing unread">
          No part above dates anything. That is no quiet address: a moment stands here only where an
          answer tells of one.
        </p>
      ) : (
        <ol class="timeline">
          {all.slice(0, MOMENTS_MAX).map(({ at, says, who, part }, index) => (
            <li key={index}>
              <Moment at={at} />
              <p>
                <a href={`#${part}`}>{says}</a> {who !== null && <Address of={who} />}
              </p>
            </li>
          ))}
        </ol>
      )}
      {all.length > MOMENTS_MAX && (
        <p class="quiet">
          The newest {MOMENTS_MAX} of {all.length} moments that the parts date.
        </p>
      )}
    </section>
  );
}

// The timeline of a dossier, from the moments that its answers date.

/** Something that happened at a moment, as ISO text. `part` is the part that tells of it. */
export type Happening = {
  readonly at: string;
  readonly says: string;
  readonly who: string | null;
  readonly part: keyof DossierParts;
};

/** All moments that the parts date, the newest first. */
export function timelineOf(parts: DossierParts): readonly Happening[] {
  const { lists, evidence, exchanges, bridges, launches } = parts;
  const all = [
    ...(lists?.state === 'ok' ? listMoments(lists.data) : []),
    ...(evidence?.state === 'ok' ? evidenceMoments(evidence.data) : []),
    ...(exchanges?.state === 'ok' ? exchangeMoments(exchanges.data) : []),
    ...(bridges?.state === 'ok' ? bridgeMoments(bridges.data) : []),
    ...(launches?.state === 'ok' ? launchMoments(launches.data) : []),
  ];
  return all.sort((one, other) => other.at.localeCompare(one.at));
}

function listMoments({ proximity: { hops_detail: hops } }: ListsData): Happening[] {
  return listOrNone(hops).map(({ at, from, to, chain }) => ({
    at,
    says: `Transfer on ${chain} on the way to a listed address`,
    who: to === from ? null : to,
    part: 'lists',
  }));
}

function evidenceMoments({ facts, findings }: EvidenceData): Happening[] {
  const { first_seen: first, last_seen: last, funded_by: funded } = facts;
  const part = 'evidence';
  const told: Happening[] = [];
  if (first !== null)
    told.push({ at: first, says: 'First transfer that was seen', who: null, part });
  if (funded !== null) told.push({ at: funded.at, says: 'Funded by', who: funded.address, part });
  if (last !== null) told.push({ at: last, says: 'Last transfer that was seen', who: null, part });
  for (const { title, evidence } of findings) {
    const [first] = evidence.flatMap(({ at }) => (at === null ? [] : [at])).sort();
    if (first !== undefined) told.push({ at: first, says: title, who: null, part });
  }
  return told;
}

function exchangeMoments({ activity: { exchanges } }: ExchangesData): Happening[] {
  return listOrNone(exchanges).flatMap(
    ({ entity, first_seen: first, last_seen: last }): Happening[] => {
      const momentAt = (at: string, which: string) => {
        return { at, says: `${which} with ${entity}`, who: null, part: 'exchanges' } as const;
      };
      if (first === last) return [momentAt(first, 'Transfer')];
      return [momentAt(first, 'First transfer'), momentAt(last, 'Last transfer')];
    },
  );
}

function bridgeMoments({ contacts, chain }: BridgesData): Happening[] {
  return listOrNone(contacts).map(({ at, name, direction }) => ({
    at,
    says: direction === 'out' ? `Sent to ${name} on ${chain}` : `Received from ${name} on ${chain}`,
    who: null,
    part: 'bridges',
  }));
}

const MS_PER_S = 1_000;
const isoOf = (seconds: number): string => new Date(seconds * MS_PER_S).toISOString();

function launchMoments(data: LaunchesData): Happening[] {
  const part = 'launches';
  if (data.chain === 'ethereum') {
    return data.record.launches.map(({ created_at, address, outcome }) => {
      const says = `Launched a token (${outcome.replaceAll('_', ' ')})`;
      return { at: isoOf(created_at), says, who: address, part };
    });
  }
  return data.wallet.entries.map(({ launched_at, mint, outcome }) => {
    return { at: isoOf(launched_at), says: `Launched a token (${outcome})`, who: mint, part };
  });
}
