// The way to a listed address, the flows and the ties of an address as one picture, with the same
// figures as a table. What was not looked at stands in the picture as a place of its own.

import { compareDecimals } from '../../chain/amount.ts';
import { present } from '../../evidence/measure.ts';
import { weightText } from '../../evidence/weight.ts';
import { dossierPath, Graph, type GraphEdge, type GraphNode } from '../../pages/graph.tsx';
import {
  Address,
  amountText,
  Badge,
  countWords,
  Moment,
  Pager,
  Prose,
  Table,
  Tx,
  usd,
  worthText,
} from '../../pages/words.tsx';
import { TIED_AS } from './entity.page.tsx';
import { pathVerdict, UncheckedByReason, type UncheckedPart } from './section.page.tsx';
import type { EntityData, EvidenceData, FindingsRange, ListsData, PartOf } from './shapes.ts';

export type PicturedParts = {
  readonly lists: PartOf<ListsData>;
  readonly evidence: PartOf<EvidenceData>;
  readonly entity: PartOf<EntityData>;
};

type Hop = NonNullable<ListsData['proximity']['hops_detail']>[number];
type Counterparty = NonNullable<EvidenceData['flows']['counterparties']>[number];
type Member = EntityData['members'][number];

/** A way, a flow or a tie from the address to another one. */
type Relation = {
  readonly kind: 'way' | 'flow' | 'tie';
  readonly says: string;
  readonly who: string;
  readonly name: string | null;
  /** On the way to `who` it passes through this address; `null`: it is next to the subject. */
  readonly past: string | null;
  /** Whether it paid, which an arrow shows; of a tie nothing flows. */
  readonly isInward: boolean;
  readonly direction: 'to it' | 'from it' | 'both ways' | null;
  readonly amounts: readonly string[];
  readonly first: string | null;
  readonly last: string | null;
  readonly signed: string | null;
  readonly tx: { readonly id: string; readonly chain: string } | null;
  /** The chains on which it is told of. */
  readonly chains: readonly string[];
  readonly share: number;
};

/** Neighbours that are drawn on each side, and rows of the table. */
const DRAWN_MAX = 4;
const ROWS_MAX = 20;

type WaysProps = {
  readonly parts: PicturedParts;
  readonly subject: string;
  /** Which neighbours its own page shows; `null`: the first. */
  readonly shown: Pick<FindingsRange, 'page'> | null;
};

/** The section of the picture. */
export function Ways({ parts, subject, shown }: WaysProps) {
  const way = pathVerdict(parts.lists);
  const relations = relationsOf(parts, subject);
  const unread = unreadOf(parts);
  return (
    <section class="part told" slot="ways" aria-labelledby="ways">
      <header>
        <h2 id="ways">Ways, flows and ties</h2>
      </header>
      {way.tone !== 'open' && (
        <p class={`says ${way.tone}`}>
          <Badge {...way} /> Two hops: <Prose text={way.says} />
        </p>
      )}
      <UncheckedByReason of={unread} />
      <Figure
        relations={relations}
        unread={unread.map(({ name }) => name)}
        subject={subject}
        shown={shown}
      />
      <Hubs lists={parts.lists} />
    </section>
  );
}

function unreadOf({ lists, evidence, entity }: PicturedParts): UncheckedPart[] {
  const told: UncheckedPart[] = [];
  const tell = (name: string, reason: string | null) => told.push({ name, reason });
  const way = lists.state === 'ok' ? lists.data.proximity : null;
  if (pathVerdict(lists).tone === 'open') {
    tell('Two hops', lists.state === 'ok' ? lists.data.proximity.reason : lists.reason);
  }
  // Beside a way that was found this is of further ways.
  if (way !== null && way.found === true && way.reason !== null) tell('Other ways', way.reason);
  if (evidence.state !== 'ok') tell('Flows', evidence.reason);
  else if (!evidence.data.flows.checked) tell('Further flows', evidence.data.flows.reason);
  if (entity.state !== 'ok') tell('Ties', entity.reason);
  else if (!entity.data.checked) tell('Further ties', entity.data.reason);
  return told;
}

function relationsOf({ lists, evidence, entity }: PicturedParts, subject: string): Relation[] {
  const relations: Relation[] = [];
  if (lists.state === 'ok') {
    const { path, hops_detail: hops, entity: listed } = lists.data.proximity;
    if (path !== null && hops !== null) relations.push(...waysOf(path, hops, listed));
  }
  const known = new Set([subject, ...relations.map(({ who }) => who)].map(lower));
  if (evidence.state === 'ok' && evidence.data.flows.counterparties !== null) {
    relations.push(
      ...flowsOf(
        evidence.data.flows.counterparties.filter((one) => !known.has(lower(one.address))),
      ),
    );
  }
  if (entity.state === 'ok') {
    const { members, chain } = entity.data;
    relations.push(...members.map((member) => tieOf(member, chain)));
  }
  return relations;
}

function lower(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

function waysOf(
  path: readonly string[],
  hops: readonly Hop[],
  entity: string | null,
): readonly Relation[] {
  return hops.flatMap((hop, at) => {
    const who = path[at + 1];
    return who === undefined ? [] : [wayOf(hop, who, { path, at, entity })];
  });
}

type OnPath = { path: readonly string[]; at: number; entity: string | null };

function wayOf(hop: Hop, who: string, { path, at, entity }: OnPath): Relation {
  const isLast = at === path.length - 2;
  const listed = entity === null ? 'listed' : entity;
  const past = at === 0 ? undefined : path[at];
  const amount = hop.token_id === null ? amountText(hop.amount, hop.symbol) : `NFT ${hop.token_id}`;
  return {
    kind: 'way',
    says: isLast ? `hop ${at + 1}, to a listed address` : `hop ${at + 1}`,
    who,
    name: isLast ? listed : null,
    past: past === undefined ? null : past,
    isInward: hop.to !== who,
    direction: hop.to === who ? 'to it' : 'from it',
    amounts: [hop.usd === null ? amount : `${amount} (${usd(hop.usd)})`],
    first: hop.at,
    last: hop.at,
    signed: signedText(hop.initiated_by_subject),
    tx: { id: hop.tx, chain: hop.chain },
    chains: [hop.chain],
    share: 1,
  };
}

function signedText(bySubject: boolean | null): string {
  if (bySubject === null) return 'signer not told';
  return bySubject ? 'signed by this address' : 'signed by another';
}

function flowsOf(counterparties: readonly Counterparty[]): readonly Relation[] {
  const priced = present(counterparties.flatMap(({ sent, received }) => [sent.usd, received.usd]));
  const most = Math.max(0, ...priced.map(Number));
  return counterparties.map((one) => {
    const { address, label, chains, sent, received, first_at, last_at } = one;
    const isInward = isPayer(one);
    const amounts = [
      ...(received.transfers === 0 ? [] : [`received ${worthText(received)}`]),
      ...(sent.transfers === 0 ? [] : [`sent ${worthText(sent)}`]),
    ];
    return {
      kind: 'flow',
      says: 'transfers',
      who: address,
      name: label,
      past: null,
      isInward,
      direction: directionOf(one),
      amounts: isInward ? amounts : amounts.reverse(),
      first: first_at,
      last: last_at,
      signed: signedText(one.initiated_by_subject),
      tx: null,
      chains,
      share: widthOf(isInward ? received : sent, most),
    };
  });
}

function directionOf({ sent, received }: Counterparty): 'to it' | 'from it' | 'both ways' {
  if (sent.transfers === 0) return 'from it';
  return received.transfers === 0 ? 'to it' : 'both ways';
}

// Dollars are held against dollars, and counts against counts where neither side has a price.
function isPayer({ sent, received }: Counterparty): boolean {
  if (sent.usd === null) return received.usd !== null || received.transfers >= sent.transfers;
  return received.usd !== null && compareDecimals(received.usd, sent.usd) >= 0;
}

/** The width of what has a price, by the largest of them; what has none is as thin as can be. */
function widthOf({ usd: worth }: Counterparty['sent'], most: number): number {
  return worth === null || most === 0 ? 0 : Math.log1p(Number(worth)) / Math.log1p(most);
}

function tieOf({ address, tied_as, weakest, links, path }: Member, chain: string): Relation {
  const [nearest] = path.slice(-2, -1);
  return {
    kind: 'tie',
    says: tied_as === 'controlled' ? weakest.heuristic.replaceAll('_', ' ') : TIED_AS[tied_as],
    who: address,
    name: null,
    past: nearest === undefined ? null : nearest.to,
    isInward: false,
    direction: null,
    amounts: [weightText(weakest), countWords(links, 'item')],
    first: null,
    last: null,
    signed: null,
    tx: null,
    chains: [chain],
    share: 0,
  };
}

type PictureProps = {
  readonly relations: readonly Relation[];
  /** The names of what was not looked at. */
  readonly unread: readonly string[];
  readonly subject: string;
};

function Figure({ relations, unread, subject, shown }: PictureProps & Pick<WaysProps, 'shown'>) {
  if (relations.length === 0) {
    return unread.length > 0 ? <Picture relations={[]} unread={unread} subject={subject} /> : null;
  }
  const last = Math.ceil(relations.length / ROWS_MAX);
  const at = shown?.page === undefined ? 1 : Math.min(shown.page, last);
  const from = (at - 1) * ROWS_MAX;
  const rows = relations.slice(from, from + ROWS_MAX);
  const linkTo = (page: number) => `?page=${page}`;
  return (
    <figure class="drawn">
      <Picture relations={relations} unread={unread} subject={subject} />
      <details open={shown !== null}>
        <summary>The same as a table: {countWords(relations.length, 'neighbour')}</summary>
        <Table
          caption={
            rows.length < relations.length
              ? `Neighbours ${from + 1} to ${from + rows.length} of ${relations.length}`
              : 'Neighbours'
          }
          rows={rows}
          columns={[
            {
              head: 'Who',
              cell: (one) => <Address of={one.who} name={one.name} chain={one.chains} />,
            },
            {
              head: 'How',
              cell: (one) => <How says={one.says} past={one.past} chains={one.chains} />,
            },
            { head: 'Money', cell: ({ direction }) => (direction === null ? '–' : direction) },
            { head: 'Amount', cell: ({ amounts }) => amounts.join('; ') },
            { head: 'When', cell: ({ first, last }) => <When first={first} last={last} /> },
            { head: 'Signed', cell: ({ signed }) => (signed === null ? '–' : signed) },
            {
              head: 'Transaction',
              cell: ({ tx }) => (tx === null ? '–' : <Tx of={tx.id} chain={tx.chain} />),
            },
          ]}
        />
        {shown === null ? (
          last > 1 && (
            <p>
              <a href={`/address/${encodeURIComponent(subject)}/ways`}>
                All {countWords(relations.length, 'neighbour')}
              </a>
            </p>
          )
        ) : (
          <Pager of="neighbours" at={at} last={last} linkTo={linkTo} before="Before" after="More" />
        )}
      </details>
    </figure>
  );
}

/** What the relation is, and through whom it leads. */
function How({ says, past, chains }: Pick<Relation, 'says' | 'past' | 'chains'>) {
  return (
    <>
      {says}
      {past !== null && (
        <>
          , through <Address of={past} chain={chains} />
        </>
      )}
    </>
  );
}

function When({ first, last }: Pick<Relation, 'first' | 'last'>) {
  if (first === null || last === null) return <>–</>;
  if (first === last) return <Moment at={first} />;
  return (
    <>
      <Moment at={first} /> to <Moment at={last} />
    </>
  );
}

const DAY_CHARS = 10;

function Picture({ relations, unread, subject }: PictureProps) {
  const ways = relations.filter(({ kind }) => kind === 'way');
  const flows = relations.filter(({ kind }) => kind === 'flow');
  const ties = relations.filter(({ kind }) => kind === 'tie');
  const left = flows.filter(({ isInward }) => isInward).slice(0, DRAWN_MAX);
  const right = [
    ...ways.filter(({ past }) => past === null),
    ...ties.filter(({ past }) => past === null).slice(0, DRAWN_MAX),
    ...flows.filter(({ isInward }) => !isInward).slice(0, DRAWN_MAX),
  ];
  const near = new Set([subject, ...right.map(({ who }) => who)].map(lower));
  const far = relations
    .filter(({ past }) => past !== null && near.has(lower(past)))
    .slice(0, DRAWN_MAX);
  const middle = left.length === 0 ? 0 : 1;
  const places = unread.length === 0 ? [] : [placeOf(unread, middle + 1)];
  const drawn = distinctBy([...left, ...right, ...far]);
  const columns = [
    left.filter((one) => drawn.has(one)).map((one) => nodeOf(one, 0)),
    [...right.filter((one) => drawn.has(one)).map((one) => nodeOf(one, middle + 1)), ...places],
    far.filter((one) => drawn.has(one)).map((one) => nodeOf(one, middle + 2)),
  ];
  const rows = Math.max(1, ...columns.map(({ length }) => length));
  const nodes = columns.flatMap((column) =>
    column.map((node, row) => ({ ...node, row: row + (rows - column.length) / 2 })),
  );
  const centre: GraphNode = {
    id: subject,
    column: middle,
    row: (rows - 1) / 2,
    lines: ['this address'],
    tone: 'subject',
  };
  const ids = new Map([centre, ...nodes].map(({ id }) => [lower(id), id]));
  const edges = [
    ...present([...drawn].map((one) => edgeOf(one, subject, ids))),
    ...places.map(({ id }): GraphEdge => ({ from: subject, to: id, tone: 'unread', share: 0 })),
  ];
  const hidden = relations.length - drawn.size;
  return (
    <>
      <Graph
        name="ways"
        title="What leads from this address to others; the table has the same."
        nodes={[centre, ...nodes]}
        edges={edges}
      />
      {hidden > 0 && <p class="quiet legend">{countWords(hidden, 'more neighbour')} not drawn.</p>}
      <details class="legend">
        <summary>How to read the picture</summary>
        <p>
          {left.length > 0 && 'Left: who paid it most. '}
          Solid: money; red: the way to a listed address; dotted: a tie, which is inferred; dashed:
          nobody looked. Each opens its own dossier.
        </p>
      </details>
    </>
  );
}

function placeOf(unread: readonly string[], column: number): GraphNode {
  return { id: 'unread', column, row: 0, name: 'Not looked at', lines: unread, tone: 'unread' };
}

/** The first relation to each address: a box stands once. */
function distinctBy(relations: readonly Relation[]): ReadonlySet<Relation> {
  const seen = new Set<string>();
  return new Set(
    relations.filter(({ who }) => {
      const isNew = !seen.has(lower(who));
      seen.add(lower(who));
      return isNew;
    }),
  );
}

function nodeOf(one: Relation, column: number): GraphNode {
  const { kind, who, name, amounts, last, signed, says } = one;
  const [amount = says] = amounts;
  const dated = [last === null ? null : last.slice(0, DAY_CHARS), signed];
  // An amount and what it came in are a line each: a box is narrow.
  const [sum = amount, count = null] = amount.split(/ (?=in [\d,]+ transfers?)/);
  const lines = present([kind === 'tie' ? `tie: ${says}` : null, sum, count, ...dated]);
  const isListed = kind === 'way' && name !== null;
  return {
    id: who,
    column,
    row: 0,
    lines: name === null ? lines : [name, ...lines],
    tone: isListed ? 'listed' : 'plain',
    href: dossierPath(who),
  };
}

function edgeOf(
  { kind, who, past, isInward, share }: Relation,
  subject: string,
  ids: ReadonlyMap<string, string>,
): GraphEdge | null {
  const near = ids.get(lower(past === null ? subject : past));
  const other = ids.get(lower(who));
  if (near === undefined || other === undefined) return null;
  const tone = kind === 'way' ? 'hit' : kind === 'tie' ? 'tie' : 'plain';
  const [from, to] = isInward ? [other, near] : [near, other];
  return { from, to, tone, share };
}

const HUBS_MAX = 5;

function Hubs({ lists }: { lists: PartOf<ListsData> }) {
  const hubs = lists.state === 'ok' ? lists.data.proximity.hub_contacts : null;
  if (hubs === null || hubs.length === 0) return null;
  return (
    <details>
      <summary>
        {countWords(hubs.length, 'busy counterparty', 'busy counterparties')} dealt with a listed
        address; no path leads past them
      </summary>
      <Table
        rows={hubs.slice(0, HUBS_MAX)}
        columns={[
          {
            head: 'Counterparty',
            cell: (hub) => <Address of={hub.address} name={hub.label} chain={hub.chain} />,
          },
          { head: 'Its counterparties', cell: (hub) => hub.degree.toLocaleString('en') },
          {
            head: 'Listed address',
            cell: (hub) => <Address of={hub.listed_address} chain={hub.chain} />,
          },
        ]}
      />
    </details>
  );
}
