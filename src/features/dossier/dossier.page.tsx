// What does a person see of one address? How each part stands first, then each part with what was
// checked and what was not.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { Search } from '../../pages/search.tsx';
import { Address, Badge, Moment } from '../../pages/words.tsx';
import { Bridges } from './bridges.page.tsx';
import {
  type Dossier,
  type DrawDossier,
  PART_NAMES,
  type PartName,
  type Parts,
} from './dossier.contract.ts';
import { Entity } from './entity.page.tsx';
import { Evidence } from './evidence.page.tsx';
import { Exchanges } from './exchanges.page.tsx';
import { Launches } from './launches.page.tsx';
import { Lists } from './lists.page.tsx';
import type { PartFacts } from './section.page.tsx';
import { timelineOf } from './timeline.page.tsx';
import {
  bridgesVerdict,
  entityVerdict,
  evidenceVerdict,
  exchangesVerdict,
  launchesVerdict,
  listVerdict,
  NOT_IN_TIME,
  otherListsVerdict,
  pathVerdict,
  type Verdict,
} from './verdicts.page.tsx';

/** The pages of the dossier. */
export function dossierPages(facts: PageFacts): DrawDossier {
  const drawn = (dossier: Dossier, children: preact.ComponentChildren) =>
    page({ ...facts, title: `Dossier of ${dossier.subject}`, current: '/address', children });
  return {
    whole: (dossier) => drawn(dossier, <Whole dossier={dossier} />),
    part: (dossier, name) => drawn(dossier, <Alone dossier={dossier} name={name} />),
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
        <PartShown key={name} dossier={dossier} name={name} alone={false} />
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
        <a href={`/address/${subject}`}>The whole dossier</a>
      </p>
      <Unread unread={dossier.unread} subject={subject} />
      <PartShown dossier={dossier} name={name} alone={true} />
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
          <a href={`/address/${subject}`}>this dossier</a> again. See also{' '}
          <a href="/pricing">the plans</a>.
        </>
      )}
    </p>
  );
}

type Glanced = readonly [name: PartName, title: string, verdict: Verdict];

function glancedOf({ lists, evidence, entity, exchanges, bridges, launches }: Parts): Glanced[] {
  return [
    ...(lists === null
      ? []
      : [
          ['lists', 'Sanctions list', listVerdict(lists)] as const,
          ['lists', 'Other lists', otherListsVerdict(lists)] as const,
          ['lists', 'Two hops', pathVerdict(lists)] as const,
        ]),
    ...(evidence === null ? [] : [['evidence', 'Findings', evidenceVerdict(evidence)] as const]),
    ...(entity === null ? [] : [['entity', 'Controller', entityVerdict(entity)] as const]),
    ...(exchanges === null
      ? []
      : [['exchanges', 'Exchanges', exchangesVerdict(exchanges)] as const]),
    ...(bridges === null ? [] : [['bridges', 'Bridges', bridgesVerdict(bridges)] as const]),
    ...(launches === null ? [] : [['launches', 'Launches', launchesVerdict(launches)] as const]),
  ];
}

function Glance({ parts }: { parts: Parts }) {
  const glanced = glancedOf(parts);
  const isShort = glanced.some(([, , { says }]) => says === NOT_IN_TIME);
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
        {glanced.map(([name, title, { tone, says }]) => (
          <li key={title} class={tone}>
            <Badge tone={tone} />
            <a href={`#${name}`}>{title}</a>
            <p>{says}</p>
          </li>
        ))}
      </ul>
      <p class="quiet">
        “None found” is about what was read, and clears nobody. “Not checked” says nothing at all.
      </p>
    </section>
  );
}

type ShownProps = { dossier: Dossier; name: PartName; alone: boolean };

function PartShown({ dossier, name, alone }: ShownProps) {
  const { subject, base, now, parts } = dossier;
  const facts: PartFacts = { subject, base, now, alone };
  const { lists, evidence, entity, exchanges, bridges, launches } = parts;
  switch (name) {
    case 'lists':
      return lists === null ? null : <Lists part={lists} facts={facts} />;
    case 'evidence':
      return evidence === null ? null : <Evidence part={evidence} facts={facts} />;
    case 'entity':
      return entity === null ? null : <Entity part={entity} facts={facts} />;
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

function Timeline({ parts }: { parts: Parts }) {
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
