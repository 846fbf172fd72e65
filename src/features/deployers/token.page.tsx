// Who made this token, and what became of the tokens that they made?

import type { ComponentChildren } from 'preact';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Address, ageText, counted, FactRows, Moment, Tx } from '../../pages/words.tsx';
import { Record } from './deployer.page.tsx';
import type { ShownCreator, ShownToken } from './token-page.contract.ts';

type Asked = { readonly chain: string; readonly address: string };

/** The page of a token. `now` is Unix seconds. */
export function tokenHtml(
  facts: PageFacts,
  { chain, address }: Asked,
  shown: ShownToken,
  now: number,
): string {
  return page({
    ...facts,
    title: 'Token',
    current: `/token/${chain}/${address}`,
    children: (
      <>
        <header class="dossier">
          <p class="eyebrow">Token on {chain}</p>
          <h1>
            <code>{address}</code>
          </h1>
        </header>
        {shown.kind === 'creator' ? (
          <Creator creator={shown.creator} sources={shown.sources} now={now} />
        ) : (
          <Untold shown={shown} />
        )}
        <p class="quiet">
          What else is on record of this address: <a href={`/address/${address}`}>its dossier</a>.
        </p>
      </>
    ),
  });
}

function Untold({ shown }: { shown: Exclude<ShownToken, { kind: 'creator' }> }) {
  const isLooked = shown.kind === 'absent' && shown.looked;
  return (
    <section class={isLooked ? 'nothing' : 'nothing unread'} aria-labelledby="absent">
      <h2 id="absent">{isLooked ? 'Nobody is named as its maker' : 'Nobody has looked'}</h2>
      <p>{shown.reason}</p>
      {shown.kind === 'unasked' && shown.signIn && (
        <p>
          <a class="button" href="/activate">
            Sign in
          </a>
        </p>
      )}
      <p class="quiet">
        {isLooked
          ? 'That is no statement about who made it.'
          : 'This says nothing about the token or its maker.'}
      </p>
    </section>
  );
}

type CreatorProps = {
  creator: ShownCreator;
  sources: Extract<ShownToken, { kind: 'creator' }>['sources'];
  now: number;
};

function Creator({ creator: shown, sources, now }: CreatorProps) {
  return (
    <section class="part" aria-labelledby="creator">
      <header>
        <h2 id="creator">Who made it</h2>
      </header>
      <p class="says">
        <Address of={shown.creator} />
      </p>
      <FactRows rows={toldOf(shown)} />
      <h2 class="section">What became of what they made</h2>
      <Made shown={shown} />
      <p class="caveat">{shown.caveat}</p>
      <footer>
        <dl class="rests" aria-label="What this rests on">
          {sources.map(({ name, as_of }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Moment at={as_of} /> <span class="quiet">({ageText(now - as_of)})</span>
              </dd>
            </div>
          ))}
        </dl>
      </footer>
    </section>
  );
}

/** What is told of its creation: a field without a value is not told, whatever the reason. */
function toldOf(shown: ShownCreator): [string, ComponentChildren][] {
  const { factory, creation_tx: tx, creation_block: block, code_size: code } = shown;
  const told: [string, ComponentChildren][] = [];
  if (factory !== null) told.push(['Through the factory', <Address key="by" of={factory} />]);
  if (tx !== null) told.push(['Transaction', <Tx key="tx" of={tx} />]);
  if (block !== null) told.push(['Block', block.toLocaleString('en')]);
  if (code !== null) told.push(['Code', counted(code, 'byte')]);
  return told;
}

function Made({ shown: { record, launches, creator, chain, reason } }: { shown: ShownCreator }) {
  if (record !== null) return <Record record={record} />;
  if (launches !== null) {
    const { launches_settled: settled, died, answer } = launches;
    return (
      <>
        <p class="says">
          {answer === 'flagged'
            ? 'Every settled launch has died.'
            : 'At least one settled launch survived.'}
        </p>
        <p>
          {died} of {counted(settled, 'settled launch', 'settled launches')} died:{' '}
          <a href={`/deployer/${chain}/${creator}`}>each of them</a>.
        </p>
      </>
    );
  }
  return (
    <div class="nothing unread">
      <p>{reason === null ? 'No record of its maker is held.' : reason}</p>
      <p class="quiet">A maker without a record has not been cleared.</p>
    </div>
  );
}
