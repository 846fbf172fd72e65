// Answers one question: what does a record of a screen look like on paper: what was asked, what was
// looked at, what was not, and what was answered?

import { type PageFacts, page } from '../../pages/layout.tsx';
import { messagePage } from '../../pages/message.tsx';
import { Scroll } from '../../pages/words.tsx';
import { BulkAnswer, OfacAnswer } from './record-answer.page.tsx';
import type { RecordListed, RecordShown, RecordsListed } from './record-pages.contract.ts';

const PATH = '/screens';
const TITLE = 'Records of screens';

/** The page of one record. */
export function recordPage(facts: PageFacts, shown: RecordShown): string {
  const title = `Record of a screen: ${shown.subject}`;
  return page({ ...facts, title, current: PATH, children: <Whole shown={shown} /> });
}

/** The list of records. */
export function recordsPage(facts: PageFacts, shown: RecordsListed): string {
  return page({ ...facts, title: TITLE, current: PATH, children: <List shown={shown} /> });
}

/** The page where a record, or the list, could not be shown. */
export function recordNotShown(facts: PageFacts, why: string): string {
  const back = { path: PATH, text: 'All records of this membership' };
  return messagePage(facts, { title: TITLE, why, current: PATH, back });
}

function List({ shown: { records, whole } }: { shown: RecordsListed }) {
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        What was asked and answered, on which versions of the lists and tables. A record is kept for
        ten years, and shown to this membership alone.
      </p>
      {records === null ? (
        <p class="nothing">
          {whole
            ? 'No record has been made yet: POST /api/v1/screens makes one.'
            : 'The records could not be read.'}
        </p>
      ) : (
        <Scroll>
          <table class="tight">
            <caption>{whole ? 'All records' : `The newest ${records.length} records`}</caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">About</th>
                <th scope="col">Record</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>{records.map(Line)}</tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}

function Line({ id, made_at, about, state }: RecordListed) {
  return (
    <tr key={id}>
      <td class="whole">{made_at}</td>
      <td>{about}</td>
      <td>
        <a href={`${PATH}/${id}`}>
          <code>{id}</code>
        </a>
      </td>
      <td>{state}</td>
    </tr>
  );
}

function Whole({ shown }: { shown: RecordShown }) {
  const { record, subject, answered } = shown;
  return (
    <article class="record">
      <h1>Record of a screen</h1>
      <p class="lead subject">
        <code>{subject}</code>
      </p>
      <Facts shown={shown} />
      <section aria-labelledby="answer">
        <h2 id="answer">What was answered</h2>
        {record.state !== 'ok' && (
          <p class="notice">
            <strong>Not answered ({record.state}).</strong> This says nothing about the address.
          </p>
        )}
        {answered?.route === 'wallet_ofac' && <OfacAnswer data={answered.data} />}
        {answered?.route === 'bulk_wallet_screen' && <BulkAnswer data={answered.data} />}
        {answered === null && record.state === 'ok' && (
          <p>It was given by another version of the service: see its text below.</p>
        )}
        {record.caveats.map((caveat) => (
          <p key={caveat} class="prose quiet">
            {caveat}
          </p>
        ))}
      </section>
      <NotRead shown={shown} />
      <Versions shown={shown} />
      <Check shown={shown} />
    </article>
  );
}

function Facts({ shown: { record, base } }: { shown: RecordShown }) {
  const { asked } = record;
  return (
    <dl class="facts">
      <dt>Record</dt>
      <dd>
        <a href={`${base}${PATH}/${record.id}`}>{`${base}${PATH}/${record.id}`}</a>
      </dd>
      <dt>Made</dt>
      <dd>
        {record.made_at}, with the key {record.key_id}
      </dd>
      <dt>Asked</dt>
      <dd>
        {asked.route}
        {asked.on === null ? '' : `, of the day ${asked.on}`}
        {asked.tables === null ? '' : `, in ${asked.tables.join(', ')} only`}
      </dd>
      <dt>Code</dt>
      <dd>Exhibit {record.code_version}</dd>
      <dt>SHA-256 of the answer</dt>
      <dd>
        <code>{record.answer_sha256}</code>
      </dd>
      <dt>Kept until</dt>
      <dd>{record.kept_until}</dd>
    </dl>
  );
}

function NotRead({ shown: { record, answered } }: { shown: RecordShown }) {
  const walk = answered?.route === 'wallet_ofac' ? answered.data.proximity : null;
  const chains = walk?.chains_not_examined;
  const nfts = walk?.nft_not_examined;
  const hubs = walk?.hubs_not_expanded_count;
  const lines = [
    ...record.not_read,
    ...(chains === undefined || chains === null || chains.length === 0
      ? []
      : [`Transfers were not examined on: ${chains.join(', ')}.`]),
    ...(nfts === undefined || nfts === null || nfts.length === 0
      ? []
      : [`Transfers of NFTs were not examined on: ${nfts.join(', ')}.`]),
    ...(hubs === undefined || hubs === null || hubs === 0
      ? []
      : [`Addresses with too many counterparties that were met and not walked through: ${hubs}.`]),
  ];
  return (
    <section aria-labelledby="not-read">
      <h2 id="not-read">What was not looked at</h2>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
        <li>Whatever no list, table or chain named below holds.</li>
      </ul>
    </section>
  );
}

function Versions({ shown: { record } }: { shown: RecordShown }) {
  const { list, list_reason, tables, sources } = record;
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">What was looked at</h2>
      <Scroll>
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">Input</th>
              <th scope="col">Version</th>
              <th scope="col">SHA-256</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>{list === null ? 'Sanctions list' : list.name}</td>
              <td>
                {list === null
                  ? `not read: ${list_reason}`
                  : `of ${list.published}, last checked ${list.as_of}`}
              </td>
              <td>{list === null ? '–' : <code>{list.sha256}</code>}</td>
            </tr>
            {tables.map(({ table, source, sha256, imported_at }) => (
              <tr key={`${table} ${source}`}>
                <td>
                  {table}: {source}
                </td>
                <td>imported {imported_at}</td>
                <td>
                  <code>{sha256}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p>Sources that the answer names, each with the time at which it was read:</p>
      <ul>
        {sources.map(({ name, url, as_of }) => (
          <li key={`${name} ${url}`}>
            {name} ({url}), {new Date(as_of * MS_PER_S).toISOString()}
          </li>
        ))}
        {sources.length === 0 && <li>The answer rests on no source.</li>}
      </ul>
    </section>
  );
}

const MS_PER_S = 1_000;

function Check({ shown: { record, base } }: { shown: RecordShown }) {
  const { id, answer } = record;
  return (
    <section aria-labelledby="check">
      <h2 id="check">To check it</h2>
      <p>
        Asked again on the versions that are held, it says whether the answer is the same, and which
        input moved where it is not:
      </p>
      <pre class="whole-text" tabindex={0}>
        <code>{`curl -s -H "Authorization: Bearer $KEY" ${base}/api/v1/screens/${id}/replay`}</code>
      </pre>
      <details>
        <summary>The answer as it was hashed</summary>
        <pre class="whole-text" tabindex={0}>
          <code>{answer}</code>
        </pre>
      </details>
    </section>
  );
}
