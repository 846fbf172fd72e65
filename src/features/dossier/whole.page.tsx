// The whole dossier as it is read: a frame with a place for each part, and the parts, each of which
// goes into its place whenever it comes. It needs no script: the frame is a declarative shadow
// tree, and what stands in a place that nothing has come for says that it was not read yet.

import type { ComponentChildren } from 'preact';
import { formatIsoTime } from '../../chain/time.ts';
import type { PageRest } from '../../contract/answer.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { type PageFacts, pageInPieces, piece } from '../../pages/layout.tsx';
import { Address, Badge, countWords, Moment, shortProse } from '../../pages/words.tsx';
import { EntityPart } from './entity.page.tsx';
import { Evidence, findingGroups } from './evidence.page.tsx';
import {
  ReceiptsPart,
  SubjectActions,
  SubjectHead,
  TokenLink,
  UnreadNotice,
} from './head.page.tsx';
import { Bridges, Exchanges, Launches, Lists } from './lists.page.tsx';
import { Ways } from './picture.page.tsx';
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
import type {
  BridgesData,
  DossierHead,
  DossierParts,
  EvidenceData,
  ExchangesData,
  LaunchesData,
  ListsData,
  PartName,
  PartOf,
  PartReaders,
} from './shapes.ts';

/** The lines of the overview by their places, and the sections that they lead to. */
const LINES = [
  ['at-list', 'Sanctions list', 'lists'],
  ['at-others', 'Other lists', 'lists'],
  ['at-path', 'Two hops', 'ways'],
  ['at-evidence', 'Findings', 'evidence'],
  ['at-entity', 'Ties', 'entity'],
  ['at-exchanges', 'Exchanges', 'exchanges'],
  ['at-bridges', 'Bridges', 'bridges'],
  ['at-launches', 'Launches', 'launches'],
] as const;
type LinePlace = (typeof LINES)[number][0];

/** The sections by their places, in the order in which they are shown. */
const SECTIONS = [
  ['lists', 'Sanctions lists'],
  ['ways', 'Ways, flows and ties'],
  ['evidence', 'What was observed'],
  ['entity', 'What ties it to other addresses'],
  ['exchanges', 'Exchanges'],
  ['bridges', 'Bridges'],
  ['launches', 'Tokens that it launched'],
  ['receipts', 'Receipts'],
  ['timeline', 'When it happened'],
] as const;

/** @internal The page as it begins, with the answer of the lists, and the pieces that follow. */
export function wholePage(
  facts: PageFacts,
  head: DossierHead,
  lists: PartOf<ListsData>,
  readers: PartReaders,
): { readonly beginning: string; readonly rest: PageRest } {
  const { beginning, end } = pageInPieces({
    ...facts,
    title: `Dossier of ${head.subject}`,
    current: '/address',
    children: <Frame />,
    first: <AtOnce head={head} lists={lists} />,
  });
  const pieces = piecesOf(head, lists, readers).map(({ draw, failed }) => ({
    draw: async () => piece(facts, await draw()),
    failed: (id: string) => {
      return piece(facts, failed(faultOf(`A fault of the service; its log has the id ${id}.`)));
    },
  }));
  return { beginning, rest: { pieces, end } };
}

// Text of our own alone: nothing of a request or of an answer stands in the frame.
function Frame() {
  const lines = LINES.map(([place, title]) => waiting(place, title));
  const sections = SECTIONS.map(([place, title]) => waiting(place, title));
  const html =
    '<slot name="head"></slot>' +
    '<section part="glance" aria-labelledby="glance">' +
    '<h2 part="title" id="glance">At a glance</h2>' +
    `<slot name="short"></slot><div part="lines">${lines.join('')}</div>` +
    '<p part="quiet">“Inferred” is a likelihood, with its weight and whether that is measured or ' +
    'assumed. “None found” is about what was read, and clears nobody. “Not checked” says nothing ' +
    `at all.</p></section>${sections.join('')}`;
  return <template {...{ shadowrootmode: 'open' }} dangerouslySetInnerHTML={{ __html: html }} />;
}

function waiting(place: string, title: string): string {
  return `<slot name="${place}"><p part="wait">${title}: stands here once it is read.</p></slot>`;
}

function AtOnce({ head, lists }: { head: DossierHead; lists: PartOf<ListsData> }) {
  return (
    <>
      <div slot="head">
        <SubjectHead head={head} />
        <SubjectActions head={head} />
        <UnreadNotice head={head} />
      </div>
      {isAtHand(lists) && <ListParts lists={lists} facts={factsOf(head)} />}
    </>
  );
}

/** Whether the answer of the lists that stands in memory is one; else the one that walks is. */
function isAtHand(lists: PartOf<ListsData>): boolean {
  return lists.state === 'ok' || lists.state === 'refused';
}

function factsOf({ subject, base, now }: DossierHead): PartFacts {
  return { subject, base, now, alone: false };
}

function ListParts({ lists, facts }: { lists: PartOf<ListsData>; facts: PartFacts }) {
  return (
    <>
      <Line place="at-list" verdict={listVerdict(lists)} />
      <Line place="at-others" verdict={otherListsVerdict(lists)} />
      <Lists part={lists} facts={facts} />
    </>
  );
}

function Line({ place, verdict }: { place: LinePlace; verdict: Verdict }) {
  const line = LINES.find(([name]) => name === place);
  if (line === undefined) throw new Error(`dossier: no line ${place}`);
  const [, title, section] = line;
  return (
    <div class={`line ${verdict.tone}`} slot={place}>
      <Badge {...verdict} />
      <a href={`#${section}`}>{title}</a>
      <p>{shortProse(verdict.says)}</p>
    </div>
  );
}

type Fault = Extract<PartOf<never>, { state: 'failed' | 'late' | 'refused' | 'unasked' }>;
type Piece = {
  readonly draw: () => Promise<ComponentChildren>;
  readonly failed: (fault: Fault) => ComponentChildren;
};

function faultOf(reason: string): Fault {
  return { path: '', ran_out: false, state: 'failed', reason };
}

function piecesOf(head: DossierHead, atHand: PartOf<ListsData>, readers: PartReaders): Piece[] {
  const facts = factsOf(head);
  function onePart<D>(
    read: () => Promise<PartOf<D>>,
    draw: (part: PartOf<D>) => ComponentChildren,
  ): Piece {
    return { draw: async () => draw(await read()), failed: draw };
  }
  return [
    onePart(readers.lists, (part) => (
      <>
        <Line place="at-path" verdict={pathVerdict(part)} />
        {!isAtHand(atHand) && <ListParts lists={part} facts={facts} />}
      </>
    )),
    onePart(readers.evidence, (part) => (
      <>
        <Line place="at-evidence" verdict={evidenceVerdict(part)} />
        <Evidence part={part} facts={facts} shown={null} />
        <TokenLink head={head} part={part} />
      </>
    )),
    onePart(readers.entity, (part) => (
      <>
        <Line place="at-entity" verdict={entityVerdict(part)} />
        <EntityPart part={part} facts={facts} />
      </>
    )),
    onePart(readers.exchanges, (part) => (
      <>
        <Line place="at-exchanges" verdict={exchangesVerdict(part)} />
        <Exchanges part={part} facts={facts} />
      </>
    )),
    onePart(readers.bridges, (part) => (
      <>
        <Line place="at-bridges" verdict={bridgesVerdict(part)} />
        <Bridges part={part} facts={facts} kind={head.kind} />
      </>
    )),
    onePart(readers.launches, (part) => (
      <>
        <Line place="at-launches" verdict={launchesVerdict(part)} />
        <Launches part={part} facts={facts} />
      </>
    )),
    onePart(readers.receipts, (part) => <ReceiptsPart part={part} subject={head.subject} />),
    waysPiece(head, readers),
    endPiece(readers),
  ];
}

// A failed part says so in its own place; here it counts as not looked at.
function orFailed<D>(read: () => Promise<PartOf<D>>): Promise<PartOf<D>> {
  return read().then(
    (part) => part,
    () => faultOf('A fault of the service.'),
  );
}

function waysPiece({ subject }: DossierHead, readers: PartReaders): Piece {
  const draw = (parts: Pick<DossierParts, 'lists' | 'evidence' | 'entity'>) => (
    <Ways parts={parts} subject={subject} shown={null} />
  );
  return {
    draw: async () => {
      const [lists, evidence, entity] = await Promise.all([
        orFailed(readers.lists),
        orFailed(readers.evidence),
        orFailed(readers.entity),
      ]);
      return draw({ lists, evidence, entity });
    },
    failed: (fault) => draw({ lists: fault, evidence: fault, entity: fault }),
  };
}

/** The timeline, and whether all was read in time: it waits for every other part. */
function endPiece(readers: PartReaders): Piece {
  const draw = (parts: TimedParts) => (
    <>
      {Object.values(parts).some((part) => part.ran_out) && (
        <p class="notice" role="note" slot="short">
          Not everything was read in the time that a page has. Load it again, or open a part alone,
          which has more time.
        </p>
      )}
      <Timeline parts={parts} />
    </>
  );
  return {
    draw: async () => {
      const [lists, evidence, entity, exchanges, bridges, launches] = await Promise.all([
        orFailed(readers.lists),
        orFailed(readers.evidence),
        orFailed(readers.entity),
        orFailed(readers.exchanges),
        orFailed(readers.bridges),
        orFailed(readers.launches),
      ]);
      return draw({ lists, evidence, entity, exchanges, bridges, launches });
    },
    failed: (fault) => (
      <section class="part untold" slot="timeline">
        <p class="nothing unread">The times could not be drawn. {fault.reason}</p>
      </section>
    ),
  };
}

type TimedParts = Omit<DossierParts, 'receipts'>;

/** Moments that are shown, the newest, and those of them that are so at once. */
const MOMENTS_MAX = 30;
const FIRST_MOMENTS = 3;

function Timeline({ parts }: { parts: TimedParts }) {
  const all = timelineOf(parts);
  return (
    <section class="part" slot="timeline" aria-labelledby="timeline">
      <header>
        <h2 id="timeline">When it happened</h2>
      </header>
      {all.length === 0 ? (
        <p class="nothing">
          No part above dates anything. That is no quiet address: a moment stands here only where an
          answer tells of one.
        </p>
      ) : (
        <>
          <Moments of={all.slice(0, FIRST_MOMENTS)} />
          {all.length > FIRST_MOMENTS && (
            <details>
              <summary>{countWords(all.length - FIRST_MOMENTS, 'older moment')}</summary>
              <Moments of={all.slice(FIRST_MOMENTS, MOMENTS_MAX)} />
            </details>
          )}
        </>
      )}
      {all.length > MOMENTS_MAX && (
        <p class="quiet">
          The newest {MOMENTS_MAX} of {all.length} moments that the parts date.
        </p>
      )}
    </section>
  );
}

function Moments({ of }: { of: readonly Happening[] }) {
  return (
    <ol class="timeline">
      {of.map(({ at, says, who, part }, index) => (
        <li key={index}>
          <Moment at={at} />
          <div>
            <a href={`#${part}`}>{says}</a> {who !== null && <Address {...who} />}
          </div>
        </li>
      ))}
    </ol>
  );
}

// The timeline of a dossier, from the moments that its answers date.

/** Something that happened at a moment, as ISO text. `part` is the part that tells of it. */
export type Happening = {
  readonly at: string;
  readonly says: string;
  readonly who: { readonly of: string; readonly chain: string } | null;
  readonly part: PartName | 'ways';
};

/** All moments that the parts date, the newest first. */
export function timelineOf(parts: TimedParts): readonly Happening[] {
  const { lists, evidence, exchanges, bridges, launches } = parts;
  const all = [
    ...(lists.state === 'ok' ? listMoments(lists.data) : []),
    ...(evidence.state === 'ok' ? evidenceMoments(evidence.data) : []),
    ...(exchanges.state === 'ok' ? exchangeMoments(exchanges.data) : []),
    ...(bridges.state === 'ok' ? bridgeMoments(bridges.data) : []),
    ...(launches.state === 'ok' ? launchMoments(launches.data) : []),
  ];
  return all.sort((one, other) => other.at.localeCompare(one.at));
}

function listMoments({ proximity: { path, hops_detail } }: ListsData): Happening[] {
  const hops = listOrNone(hops_detail);
  // The path names whom each hop reaches, whichever of both paid the other.
  const [, ...reached] = listOrNone(path);
  return hops.map(({ at, chain }, n) => {
    const of = reached[n];
    return {
      at,
      says: `Hop ${n + 1} of ${hops.length} to a listed address, on ${chain}, reaches`,
      who: of === undefined ? null : { of, chain },
      part: 'ways',
    };
  });
}

function evidenceMoments({ facts, findings }: EvidenceData): Happening[] {
  const { first_seen: first, last_seen: last, funded_by: funded } = facts;
  const part = 'evidence';
  const told: Happening[] = [];
  if (first !== null)
    told.push({ at: first, says: 'First transfer that was seen', who: null, part });
  if (funded !== null) {
    const { at, address, chain } = funded;
    told.push({ at, says: 'Funded by', who: { of: address, chain }, part });
  }
  if (last !== null) told.push({ at: last, says: 'Last transfer that was seen', who: null, part });
  // One moment of each kind: what others did a hundred times is no hundred moments.
  for (const group of findingGroups(findings)) {
    const [{ title }, ...more] = group;
    const items = group.flatMap(({ evidence }) => evidence);
    const [first] = items.flatMap(({ at }) => (at === null ? [] : [at])).sort();
    const says = more.length === 0 ? title : `${title}: the first of ${group.length}`;
    if (first !== undefined) told.push({ at: first, says, who: null, part });
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

function launchMoments(data: LaunchesData): Happening[] {
  const part = 'launches';
  if (data.chain === 'ethereum') {
    return data.record.launches.map(({ created_at, address, outcome }) => {
      const says = `Launched a token (${outcome.replaceAll('_', ' ')})`;
      const who = { of: address, chain: data.chain };
      return { at: formatIsoTime(created_at), says, who, part };
    });
  }
  return data.wallet.entries.map(({ launched_at, mint, outcome }) => {
    return {
      at: formatIsoTime(launched_at),
      says: `Launched a token (${outcome})`,
      who: { of: mint, chain: data.chain },
      part,
    };
  });
}
