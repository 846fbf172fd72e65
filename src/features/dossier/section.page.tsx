// What does every part of a dossier have around it: how it stands, what it rests on, how to ask for
// it, and, where it was not answered, why.

import type { ComponentChildren } from 'preact';
import { ageText, Badge, Moment } from '../../pages/words.tsx';
import type { PartName, PartOf } from './dossier.contract.ts';
import { type Verdict, withoutCode } from './verdicts.page.tsx';

/** What a part is told beside its answer. */
export type PartFacts = {
  readonly subject: string;
  readonly base: string;
  readonly now: number;
  /** Whether the part has the page for itself. */
  readonly alone: boolean;
};

type SectionProps<D> = {
  name: PartName;
  title: string;
  part: PartOf<D>;
  verdict: Verdict;
  facts: PartFacts;
  children: (data: D) => ComponentChildren;
};

/** A part of the dossier. */
export function Section<D>({ name, title, part, verdict, facts, children }: SectionProps<D>) {
  const { alone, subject } = facts;
  return (
    <section class={`part ${part.state === 'ok' ? 'told' : 'untold'}`} aria-labelledby={name}>
      <header>
        <h2 id={name}>{title}</h2>
        <Badge tone={verdict.tone} />
      </header>
      {part.state === 'ok' ? children(part.data) : <Untold part={part} />}
      <footer>
        <Asked part={part} facts={facts} name={name} />
        {!alone && (
          <p>
            <a href={`/address/${subject}/${name}`}>This part alone, with its JSON</a>
          </p>
        )}
      </footer>
    </section>
  );
}

type UntoldPart = Exclude<PartOf<unknown>, { state: 'ok' }>;

const UNTOLD: { readonly [S in UntoldPart['state']]: string } = {
  insufficient_evidence: 'What was read does not answer it',
  not_supported: 'Not read for this kind of address',
  not_deployed: 'Not read on this deployment',
  refused: 'Not read for this kind of address',
  unasked: 'Nobody looked',
  late: 'Not read in time',
};

function Untold({ part: { state, reason } }: { part: UntoldPart }) {
  return (
    <div class="nothing unread">
      <p>
        <strong>{UNTOLD[state]}.</strong> {withoutCode(reason)}
      </p>
      <p class="quiet">This says nothing about the address.</p>
    </div>
  );
}

type AskedProps = { part: PartOf<unknown>; facts: PartFacts; name: PartName };

function Asked({ part, facts: { base, now, alone }, name }: AskedProps) {
  const key = part.path.startsWith('/api/v1/') ? 'EXHIBIT_API_KEY' : 'EXHIBIT_STREAM_TOKEN';
  return (
    <>
      {'sources' in part && part.sources.length > 0 && (
        <Sources sources={part.sources} now={now} name={name} />
      )}
      <details open={alone}>
        <summary>Ask for it by a program</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached. */}
        <pre class="curl" tabIndex={0}>
          {`curl -H "Authorization: Bearer $${key}" \\\n  '${base}${part.path}'`}
        </pre>
      </details>
      {alone && 'json' in part && <Json text={part.json} />}
    </>
  );
}

type SourcesProps = {
  sources: readonly { readonly name: string; readonly as_of: number }[];
  now: number;
  name: string;
};

function Sources({ sources, now, name }: SourcesProps) {
  const oldest = new Map<string, number>();
  for (const { name: source, as_of } of sources) {
    const known = oldest.get(source);
    oldest.set(source, known === undefined ? as_of : Math.min(known, as_of));
  }
  return (
    <dl class="rests" aria-label={`What ${name} rests on`}>
      {[...oldest].map(([source, as_of]) => (
        <div key={source}>
          <dt>{source}</dt>
          <dd>
            <Moment at={as_of} /> <span class="quiet">({ageText(now - as_of)})</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Longer answers are left to a program: a page stays small. */
const JSON_CHARS_MAX = 48_000;
const INDENT = 2;

function Json({ text }: { text: string }) {
  const parsed: unknown = JSON.parse(text);
  const shown = JSON.stringify(parsed, null, INDENT);
  return (
    <details open>
      <summary id="json">The answer as JSON</summary>
      {shown.length > JSON_CHARS_MAX ? (
        <p>It is too long for a page: ask for it as above.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached.
        <pre class="json" tabIndex={0}>
          {shown}
        </pre>
      )}
    </details>
  );
}

/** What has to be read with a claim. */
export function Caveat({ children }: { children: ComponentChildren }) {
  return <p class="caveat">{children}</p>;
}

/** What of a part was not read, and why; nothing where there is nothing to say. */
export function Unchecked({ what, reason }: { what: string; reason: string | null }) {
  if (reason === null) return null;
  return (
    <p class="unchecked">
      <Badge tone="open" /> <strong>{what}</strong> {withoutCode(reason)}
    </p>
  );
}
