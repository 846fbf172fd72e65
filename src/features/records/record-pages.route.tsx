import { z } from 'zod';
import { formatIsoDate } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import { form, html, noBody } from '../../contract/reply.ts';
import { type Caller, type PlainHandler, plainRoute, sessionOf } from '../../contract/route.ts';
import { shellCommand } from '../../contract/shell-command.ts';
import { addressText } from '../../contract/wire.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { type Reading, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { Prose, Second, secondText, Table } from '../../pages/words.tsx';
import type { PlanName } from '../../ports/access.ts';
import type {
  RecordedInput,
  RecordLine,
  ScreeningRecord,
  ScreeningRecords,
} from '../../ports/screening.ts';
import type { walletOfac } from '../sanctions/wallet-ofac.route.ts';
import type { bulkWalletScreen } from '../screening/bulk-wallet-screen.route.ts';
import {
  LOOK_WORDS,
  type Looks,
  lookOfListing,
  lookOfOther,
  looksOf,
} from '../screening/shapes.ts';
import {
  FULL,
  makeRecord,
  RECORDED,
  type RecordsDependencies,
  type screenRecord,
  UNKNOWN,
  viewRecord,
} from './records.route.ts';

const SESSION = { surface: 'web', access: 'session', method: 'GET' } as const;
const ID_CHARS_MAX = 64;
const FORM_BYTES_MAX = 4_096;

export const screensPage = plainRoute({
  ...SESSION,
  name: 'screens_page',
  path: '/screens',
  summary: 'The newest records of screens of the membership of this browser.',
  responses: { 200: html(), 503: html() },
});

export const screenPage = plainRoute({
  ...SESSION,
  name: 'screen_page',
  path: '/screens/{id}',
  summary: 'A record of a screen, to print and to file.',
  params: z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) }),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const recordForm = plainRoute({
  ...SESSION,
  name: 'record_form',
  method: 'POST',
  path: '/screens',
  summary: 'Screens an address as record_screen does, and leads to the page of its record.',
  bodyBytesMax: FORM_BYTES_MAX,
  body: form(z.strictObject({ address: addressText })),
  responses: { 303: noBody(), 403: html(), 409: html(), 429: html(), 503: html() },
  headers: { 303: { location: 'The page of the record.' } },
});

/** A record as its route shows it, and its answer taken apart where this version can. */
export type RecordView = {
  readonly record: z.output<(typeof screenRecord.responses)[200]>;
  readonly subject: string;
  readonly answered:
    | { readonly route: 'wallet_ofac'; readonly data: z.output<typeof walletOfac.data> }
    | {
        readonly route: 'bulk_wallet_screen';
        readonly data: z.output<typeof bulkWalletScreen.data>;
      }
    | null;
  /** The start of links and examples. */
  readonly base: string;
};

export type RecordPagePorts = {
  readonly records: Pick<ScreeningRecords, 'find' | 'newest'>;
  readonly base: () => string;
};

/** @internal */
export function screensPageHandler(
  { records }: RecordPagePorts,
  facts: PageFacts,
): PlainHandler<typeof screensPage> {
  return async (_input, _request, caller) => {
    const newest = await records.newest(sessionOf(caller).membership_id);
    if (newest instanceof Unread) {
      return screensPage.reply(503, recordNotShown(facts, newest.why.reason));
    }
    const children = <List records={rowsSeen(newest)} whole={newest.checked} />;
    return screensPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

/** @internal */
export function screenPageHandler(
  { records, base }: RecordPagePorts,
  facts: PageFacts,
): PlainHandler<typeof screenPage> {
  return async ({ params: { id } }, _request, caller) => {
    const found = await records.find(sessionOf(caller).membership_id, id);
    if (found instanceof Unread) {
      return screenPage.reply(503, recordNotShown(facts, found.why.reason));
    }
    if (found.value === null) return screenPage.reply(404, recordNotShown(facts, UNKNOWN));
    const shown: RecordView = {
      record: viewRecord(found.value),
      subject: aboutOf(found.value.input),
      answered: parseAnswer(found.value),
      base: base(),
    };
    return screenPage.reply(200, recordPage(facts, shown));
  };
}

type Permit =
  | { readonly may: true; readonly pay: () => Promise<Refusal | null> }
  | { readonly may: false; readonly why: Why };

/** The dependencies of the form. */
export type RecordFormPorts = RecordsDependencies & {
  /** Whether a caller may have it, and what charges it then. */
  readonly reading: (caller: Caller) => Promise<Permit>;
  readonly planOf: (membershipId: string) => Promise<Reading<PlanName, never>>;
};

/**
 * @internal A record is a request of the membership's allowance, charged once it is made: what is
 * answered with 4xx or 5xx costs nothing.
 */
export function recordFormHandler(
  dependencies: RecordFormPorts,
  facts: PageFacts,
): PlainHandler<typeof recordForm> {
  return async ({ body: { address } }, request, caller) => {
    const { membership_id, session_id } = sessionOf(caller);
    const permit = await dependencies.reading(caller);
    if (!permit.may) return recordForm.reply(statusOf(permit.why), notMade(facts, permit.why));
    const plan = await dependencies.planOf(membership_id);
    if (plan instanceof Unread) return recordForm.reply(503, notMade(facts, plan.why));
    const input = { route: 'wallet_ofac', address: address.trim(), on: null } as const;
    const owner = { kind: 'member', membership_id, plan: plan.value, key_id: session_id } as const;
    const made = await makeRecord(dependencies, input, owner, request);
    if (made instanceof Refusal) return made;
    if (made === 'full') return recordForm.reply(409, notMade(facts, { reason: FULL }));
    if ('why' in made) return recordForm.reply(503, notMade(facts, made.why));
    const unpaid = await permit.pay();
    if (unpaid !== null) return unpaid;
    return recordForm.reply(303, undefined, { location: `${PATH}/${made.record.id}` });
  };
}

function statusOf({ code }: Why): 403 | 429 | 503 {
  if (code === 'page_allowance_spent') return 429;
  return code === 'page_membership_inactive' ? 403 : 503;
}

function aboutOf(input: RecordedInput): string {
  if (input.route === 'bulk_wallet_screen') return `${input.addresses.length} addresses`;
  return input.on === null ? input.address : `${input.address} on ${input.on}`;
}

/** The answer by the declaration of its route; one of another version may not fit it any more. */
function parseAnswer({ input: { route }, answer }: ScreeningRecord): RecordView['answered'] {
  const quoted: unknown = JSON.parse(answer);
  const data: unknown = Reflect.get(Object(quoted), 'data');
  if (route === 'wallet_ofac') {
    const parsed = RECORDED[route].data.safeParse(data);
    return parsed.success ? { route, data: parsed.data } : null;
  }
  const parsed = RECORDED[route].data.safeParse(data);
  return parsed.success ? { route, data: parsed.data } : null;
}

const PATH = '/screens';
const TITLE = 'Records of screens';

/** @internal */
export function recordPage(facts: PageFacts, shown: RecordView): string {
  const title = `Record of a screen: ${shown.subject}`;
  return page({ ...facts, title, current: PATH, children: <Whole shown={shown} /> });
}

function recordNotShown(facts: PageFacts, why: string): string {
  const back = { path: PATH, text: 'All records of this membership' };
  return messagePage(facts, { title: TITLE, why, current: PATH, back });
}

/** The page where no record was made. */
function notMade(facts: PageFacts, { reason }: Pick<Why, 'reason'>): string {
  const back = { path: PATH, text: 'All records of this membership' };
  const told = `${reason} Nothing was charged.`;
  return messagePage(facts, { title: 'No record was made', why: told, current: PATH, back });
}

type ListProps = { records: readonly RecordLine[] | null; whole: boolean };

function List({ records, whole }: ListProps) {
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
            ? 'No record has been made yet: “Record this” on the page of an address makes one.'
            : 'The records could not be read.'}
        </p>
      ) : (
        <Table
          caption={whole ? 'All records' : `The newest ${records.length} records`}
          rows={records}
          columns={[
            { head: 'When', cell: ({ made_at }) => <Second at={made_at} />, look: 'whole' },
            { head: 'About', cell: ({ input }) => <code>{aboutOf(input)}</code> },
            {
              head: 'Record',
              cell: ({ id }) => (
                <a href={`${PATH}/${id}`}>
                  <code>{id}</code>
                </a>
              ),
            },
            { head: 'State', cell: ({ state }) => state },
          ]}
        />
      )}
    </>
  );
}

function Whole({ shown }: { shown: RecordView }) {
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
            <Prose text={caveat} />
          </p>
        ))}
      </section>
      <NotRead shown={shown} />
      <Versions shown={shown} />
      <Check shown={shown} />
    </article>
  );
}

function Facts({ shown: { record, base } }: { shown: RecordView }) {
  const { asked } = record;
  return (
    <dl class="facts">
      <dt>Record</dt>
      <dd>
        <a href={`${base}${PATH}/${record.id}`}>{`${base}${PATH}/${record.id}`}</a>
      </dd>
      <dt>Made</dt>
      <dd>
        <Second at={record.made_at} />, by {record.key_id}
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
      <dd>
        <Second at={record.kept_until} />
      </dd>
    </dl>
  );
}

function NotRead({ shown: { record, answered } }: { shown: RecordView }) {
  const walk = answered?.route === 'wallet_ofac' ? answered.data.proximity : null;
  const chains = walk?.chains_not_examined;
  const nfts = walk?.nft_not_examined;
  const hubs = walk?.hubs_not_expanded_count;
  const named = partsOf(answered);
  const lines = [
    ...record.not_read.map((said) => {
      const parts = named.filter(([, reason]) => reason === said).map(([part]) => part);
      return parts.length === 0 ? said : `${parts.join(', ')}: ${said}`;
    }),
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

/** The parts of an answer about one address, each with why it was not looked at. */
function partsOf(answered: RecordView['answered']): readonly (readonly [string, string | null])[] {
  if (answered?.route !== 'wallet_ofac') return [];
  const { other_lists, other_lists_reason, proximity } = answered.data;
  return [
    [OTHER_LISTS, other_lists_reason],
    ...listOrNone(other_lists).map(({ list, reason }) => [list, reason] as const),
    [TRANSFERS, proximity.reason],
  ];
}

const OTHER_LISTS = 'Lists of other authorities';
const TRANSFERS = 'Transfers, two hops at most';

function Versions({ shown: { record } }: { shown: RecordView }) {
  const { list, list_reason, tables, sources } = record;
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">What was looked at</h2>
      <Table
        rows={[
          {
            input: list === null ? 'Sanctions list' : list.name,
            version:
              list === null
                ? `not read: ${list_reason}`
                : `of ${list.published}, last checked ${secondText(list.as_of)}`,
            sha256: list === null ? null : list.sha256,
          },
          ...tables.map(({ table, source, sha256, imported_at }) => ({
            input: `${table}: ${source}`,
            version: `imported ${secondText(imported_at)}`,
            sha256,
          })),
        ]}
        columns={[
          { head: 'Input', cell: ({ input }) => input },
          { head: 'Version', cell: ({ version }) => version },
          {
            head: 'SHA-256',
            cell: ({ sha256 }) => (sha256 === null ? '–' : <code>{sha256}</code>),
          },
        ]}
      />
      <p>Sources that the answer names, each with the time at which it was read:</p>
      <ul>
        {sources.map(({ name, url, as_of }) => (
          <li key={`${name} ${url}`}>
            {name} ({url}), <Second at={as_of} />
          </li>
        ))}
        {sources.length === 0 && <li>The answer rests on no source.</li>}
      </ul>
    </section>
  );
}

function Check({ shown: { record, base } }: { shown: RecordView }) {
  const { id, answer } = record;
  return (
    <section aria-labelledby="check">
      <h2 id="check">To check it</h2>
      <p>
        Asked again on the versions that are held, it says whether the answer is the same, and which
        input moved where it is not:
      </p>
      <pre class="whole-text" tabindex={0}>
        <code>
          {shellCommand(
            ['curl', '-s', '-H', { before: 'Authorization: Bearer ', variable: 'EXHIBIT_API_KEY' }],
            [`${base}/api/v1/screens/${encodeURIComponent(id)}/replay`],
          )}
        </code>
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

// A miss is a statement about the list that was searched, and about nothing else.

type Answered = NonNullable<RecordView['answered']>;
type Ofac = Extract<Answered, { route: 'wallet_ofac' }>['data'];
type Bulk = Extract<Answered, { route: 'bulk_wallet_screen' }>['data'];

/** @internal One address against the lists, and the walk to a listed one. */
export function OfacAnswer({ data }: { data: Ofac }) {
  const { list, matches, equivalent_forms, other_lists, other_lists_reason, proximity } = data;
  // EIP-55 writes the same address: listed, it is the address that is.
  const forms = equivalent_forms.filter(({ form, listed }) => listed === true && form !== 'eip55');
  return (
    <ul class="entries">
      <li>
        <h3>{list.name}</h3>
        {matches.length === 0 ? (
          <p>
            Not among the {list.addresses.toLocaleString('en')} addresses of the list of{' '}
            {list.published}.
          </p>
        ) : (
          matches.map(({ uid, entity, programs, listed_address }) => (
            <p key={uid}>
              <strong>Listed</strong> as {textOf(entity)}, entry {uid}, under{' '}
              {programs === null ? 'programmes that the list leaves open' : programs.join(', ')}: {}
              <code>{listed_address}</code>
            </p>
          ))
        )}
        {forms.map(({ form, address }) => (
          <p key={address}>
            <strong>Listed in another form</strong> ({form}): <code>{address}</code>
          </p>
        ))}
        {equivalent_forms.some(({ listed }) => listed === null) && (
          <p>Other forms of it: not checked, since the list is past its age.</p>
        )}
      </li>
      {other_lists === null ? (
        <li>
          <h3>{OTHER_LISTS}</h3>
          <p>Not checked: {textOf(other_lists_reason)}</p>
        </li>
      ) : (
        other_lists.map((one) => (
          <li key={one.list}>
            <h3>{one.list}</h3>
            <p>
              <OnOtherList list={one} />
            </p>
          </li>
        ))
      )}
      <li>
        <h3>{TRANSFERS}</h3>
        <Proximity walk={proximity} />
      </li>
    </ul>
  );
}

type OnOther = NonNullable<Ofac['other_lists']>[number];

function OnOtherList({ list }: { list: OnOther }) {
  const { as_of, reason, matches, equivalent_matches: forms } = list;
  const [entry] = listOrNone(matches);
  const [form] = listOrNone(forms);
  const dated = formatIsoDate(as_of);
  switch (lookOfOther(list)) {
    case 'listed':
      return (
        <>
          <strong>Listed</strong> as {textOf(entry?.entity)}.
        </>
      );
    case 'form_listed':
      return (
        <>
          <strong>Listed in another form</strong>: <code>{textOf(form?.listed_address)}</code>
        </>
      );
    case 'ended':
      return <>Its entry had ended as of {dated}.</>;
    case 'no_record':
      return <>Not among its entries as of {dated}.</>;
    default:
      return <>Not checked: {textOf(reason)}</>;
  }
}

function Proximity({ walk }: { walk: Ofac['proximity'] }) {
  const { found, path, entity, reason, chains_examined } = walk;
  if (found === true && path !== null) {
    return (
      <p>
        <strong>A path leads to a listed address</strong> ({textOf(entity)}):{' '}
        <code>{path.join(' → ')}</code>
      </p>
    );
  }
  if (found === false && chains_examined !== null) {
    return <p>No path to a listed address was met on {chains_examined.join(', ')}.</p>;
  }
  return <p>Not determined: {textOf(reason)}</p>;
}

/** @internal Many addresses against the tables. */
export function BulkAnswer({ data: { results } }: { data: Bulk }) {
  return (
    <Table
      caption={<>{results.length.toLocaleString('en')} addresses</>}
      rows={results}
      columns={[
        { head: 'Address', cell: ({ address }) => address },
        { head: 'State', cell: ({ state }) => state },
        { head: 'Sanctions list', cell: (result) => <Listing result={result} /> },
        { head: 'Other forms', cell: (result) => <OtherForms result={result} /> },
        { head: 'Other lists', cell: (result) => <Elsewhere result={result} /> },
        {
          head: 'Exchange table',
          cell: (result) =>
            result.exchange === null ? wordOf(result, 'exchange_table') : result.exchange.label,
        },
        {
          head: 'Launches',
          cell: (result) =>
            result.launches === null
              ? wordOf(result, 'launch_corpus')
              : `${result.launches.died} of ${result.launches.launches_settled} settled died`,
        },
      ]}
    />
  );
}

type BulkResult = Bulk['results'][number];

function wordOf(result: BulkResult, of: keyof Looks): string {
  return LOOK_WORDS[looksOf(result)[of]];
}

function Listing({ result }: { result: BulkResult }) {
  const { sanctions } = result;
  const word = wordOf(result, 'sanctions_list');
  if (sanctions === null) return word;
  const { listed, programs, list_published } = sanctions;
  if (!listed) return `${word} of ${list_published}`;
  return `${word} (${programs === null ? 'programmes left open' : programs.join(', ')})`;
}

function OtherForms({ result }: { result: BulkResult }) {
  const { equivalent_forms: forms } = result;
  const word = wordOf(result, 'equivalent_forms');
  if (forms === null || forms.length === 0) return word;
  return `${word}: ${forms.map(({ address }) => address).join(', ')}`;
}

function Elsewhere({ result }: { result: BulkResult }) {
  const { other_lists: lists } = result;
  if (lists === null) return wordOf(result, 'other_lists');
  return lists.map((one) => `${one.list}: ${LOOK_WORDS[lookOfListing(one)]}`).join('; ');
}

function textOf(text: string | null | undefined): string {
  return text === null || text === undefined ? 'left open' : text;
}
