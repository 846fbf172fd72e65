// The head of a dossier, its actions, and the receipts about its subject.

import { Copy, ExplorerLinks } from '../../pages/explorer.tsx';
import { countWords, FormToken } from '../../pages/words.tsx';
import { withoutCode } from './section.page.tsx';
import type { DossierHead, EvidenceData, PartOf, ReceiptsData } from './shapes.ts';

const KINDS: { readonly [K in DossierHead['kind']]: string } = {
  evm: 'EVM address',
  solana: 'Solana address',
  bitcoin: 'Bitcoin address',
  tron: 'Tron address',
  other: 'Address of a form that is screened by lists alone',
};

/** The subject, in full. */
export function SubjectHead({ head: { subject, kind } }: { head: DossierHead }) {
  return (
    <header class="dossier">
      <p class="eyebrow">{KINDS[kind]}</p>
      <h1>
        <code>{subject}</code> <Copy of={subject} />
      </h1>
      <ExplorerLinks of={subject} kind={kind} />
    </header>
  );
}

const ACTIONS = [
  ['/screens', 'Record this'],
  ['/watchlist', 'Watch this'],
] as const;

/** The actions of a member on the subject, or where to sign in for them. */
export function SubjectActions({ head: { subject, caller } }: { head: DossierHead }) {
  if (caller.kind !== 'session') {
    return (
      <p class="actions quiet">
        <a href="/activate">Sign in to record or watch it</a>
      </p>
    );
  }
  return (
    <div class="actions">
      {ACTIONS.map(([action, says]) => (
        <form key={action} method="post" action={action}>
          <FormToken token={caller.form_token} />
          <input type="hidden" name="address" value={subject} />
          <button class="plain" type="submit">
            {says}
          </button>
        </form>
      ))}
    </div>
  );
}

/** Why nothing was read from outside sources. */
export function UnreadNotice({ head: { unread, subject } }: { head: DossierHead }) {
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

type TokenProps = { head: DossierHead; part: PartOf<EvidenceData> };

/** Its label, and a link to who made it where it is a token. */
export function TokenLink({ head: { subject, kind }, part }: TokenProps) {
  const told = part.state === 'ok' ? part.data : null;
  const isToken = told !== null && told.facts.kind === 'token';
  return (
    <div slot="head">
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
    </div>
  );
}

const RECEIPTS_MAX = 3;

/** The receipts that are about the subject. */
export function ReceiptsPart({ part, subject }: { part: PartOf<ReceiptsData>; subject: string }) {
  if (part.state !== 'ok') {
    return (
      <p class="quiet" slot="receipts">
        Receipts: {withoutCode(part.reason)}
      </p>
    );
  }
  const { receipts, total } = part.data;
  return (
    <section class="part" slot="receipts" aria-labelledby="receipts">
      <header>
        <h2 id="receipts">Receipts</h2>
      </header>
      <p>
        {countWords(total, 'reviewed article')} of this service {total === 1 ? 'is' : 'are'} about
        it.
      </p>
      <ul>
        {receipts.slice(0, RECEIPTS_MAX).map(({ slug, title, date }) => (
          <li key={slug}>
            <a href={`/receipts/${slug}`}>{title}</a> <span class="quiet">{date}</span>
          </li>
        ))}
      </ul>
      {total > RECEIPTS_MAX && (
        <a href={`/receipts?q=${encodeURIComponent(subject)}`}>All of them</a>
      )}
    </section>
  );
}
