// How old is each source, and can it deny anything now? The same as /health, for people.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { ageText, FactRows, Moment, Table } from '../../pages/words.tsx';
import type { ShownHealth, SourceWords } from './status-page.contract.ts';

/** The page of the state. `now` is Unix seconds. */
export function statusHtml(
  facts: PageFacts,
  shown: ShownHealth,
  sources: readonly SourceWords[],
  now: number,
): string {
  const { streaming, following, ring } = shown;
  return page({
    ...facts,
    title: 'Status',
    current: '/status',
    children: (
      <>
        <h1>Status</h1>
        <p class="lead">{leadOf(shown)}</p>
        <Sources ages={shown.data_freshness} sources={sources} now={now} />
        <h2 class="section">Chains that are followed</h2>
        <Following following={following} now={now} />
        <h2 class="section">The ring around the list</h2>
        <Ring ring={ring} now={now} />
        <h2 class="section">The service</h2>
        <FactRows
          rows={[
            ['Version', shown.version],
            [
              'Rug model',
              shown.model.version === null ? reasonText(shown.model.reason) : shown.model.version,
            ],
            ['Stream of flags', streaming === null ? 'not served here' : streamText(streaming)],
          ]}
        />
        <p class="quiet">
          Drawn at <Moment at={now} />. As a machine reads it: <a href="/health">/health</a>
        </p>
      </>
    ),
  });
}

function reasonText(reason: string | null): string {
  return reason === null ? 'not told' : reason;
}

function leadOf({ data_freshness: ages }: ShownHealth): string {
  const states = Object.values(ages).map(({ state }) => state);
  const silent = states.filter((state) => state !== 'fresh' && state !== 'per_answer').length;
  if (silent === 0) return `Each of ${states.length} sources can be asked and is within its age.`;
  return (
    `${silent} of ${states.length} sources cannot be asked now, or are past their age: what ` +
    'rests on them is answered as not checked.'
  );
}

const STATES: { readonly [S in ShownHealth['data_freshness'][string]['state']]: string } = {
  fresh: 'fresh',
  per_answer: 'dated by answer',
  stale: 'past its age',
  never_loaded: 'never loaded',
  unreadable: 'unreadable',
};

type SourcesProps = {
  ages: ShownHealth['data_freshness'];
  sources: readonly SourceWords[];
  now: number;
};

function Sources({ ages, sources, now }: SourcesProps) {
  const words = new Map(sources.map((one) => [one.tag, one]));
  return (
    <Table
      caption="Sources"
      heads={['Source', 'State', 'As of', 'May be as old as', 'What it tells']}
      rows={Object.entries(ages).map(([tag, { state, as_of, max_age_s, reason }]) => {
        const known = words.get(tag);
        const says = known === undefined ? null : known.says;
        return [
          <strong key="title">{known === undefined ? tag : known.title}</strong>,
          <span key="state" class={`state ${state}`}>
            {state === 'fresh' && max_age_s === null ? 'held' : STATES[state]}
          </span>,
          as_of === null ? (
            '–'
          ) : (
            <>
              <Moment at={as_of} /> <span class="quiet">{ageText(now - as_of)}</span>
            </>
          ),
          max_age_s === null ? '–' : ageText(max_age_s).replace(/ ago$/, ''),
          <>
            {says}
            {reason !== null && state !== 'per_answer' && <span class="quiet"> {reason}</span>}
          </>,
        ];
      })}
    />
  );
}

type FollowingProps = { following: ShownHealth['following']; now: number };

function Following({ following, now }: FollowingProps) {
  if (following === null) {
    return <p class="nothing unread">How chains are followed could not be read.</p>;
  }
  const chains = Object.entries(following);
  if (chains.length === 0) {
    return <p class="nothing">No chain is followed: history is read as it is asked for.</p>;
  }
  return (
    <Table
      caption="Chains, as their followers told last"
      heads={['Chain', 'State', 'Last block', 'Blocks behind', 'Since']}
      rows={chains.map(([chain, one]) => [
        chain,
        `${one.state.replaceAll('_', ' ')}${one.reason === null ? '' : `: ${one.reason}`}`,
        one.last_block === null ? 'not known' : one.last_block.toLocaleString('en'),
        one.lag_blocks === null ? 'not known' : one.lag_blocks.toLocaleString('en'),
        ageText(now - one.since),
      ])}
    />
  );
}

type RingProps = { ring: ShownHealth['ring']; now: number };

function Ring({ ring, now }: RingProps) {
  if (ring === null) return <p class="nothing">It has not been looked at since the start.</p>;
  const { state, reason, chains, as_of } = ring;
  return (
    <>
      <p>
        {state === 'whole'
          ? 'Whole: everybody who dealt with a listed address is held.'
          : 'Not whole: the second hop of a walk is read address by address.'}{' '}
        <span class="quiet">
          {reason} Looked at {ageText(now - as_of)}.
        </span>
      </p>
      {chains !== null && Object.keys(chains).length > 0 && (
        <Table
          caption="Listed addresses by chain"
          heads={['Chain', 'Listed', 'Held in full', 'Counterparties']}
          rows={Object.entries(chains).map(([chain, one]) => [
            chain,
            one.listed.toLocaleString('en'),
            one.held_in_full.toLocaleString('en'),
            one.counterparties.toLocaleString('en'),
          ])}
        />
      )}
    </>
  );
}

function streamText({ bus, source, connections }: NonNullable<ShownHealth['streaming']>): string {
  const open = Object.values(connections).reduce((sum, one) => sum + one.open, 0);
  const log = source.state === 'read' ? `newest event ${source.newest_seq}` : 'log not read';
  return `${open.toLocaleString('en')} open, bus ${bus.state}, ${log}`;
}
