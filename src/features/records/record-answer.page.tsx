// Answers one question: how is the answer of a recorded screen told to whoever reads the file?
// What was not found is told of the list that was searched, and of nothing else.

import { Scroll } from '../../pages/words.tsx';
import type { RecordShown } from './record-pages.contract.ts';

type Answered = NonNullable<RecordShown['answered']>;
type Ofac = Extract<Answered, { route: 'wallet_ofac' }>['data'];
type Bulk = Extract<Answered, { route: 'bulk_wallet_screen' }>['data'];

/** One address against the lists, and the walk to a listed one. */
export function OfacAnswer({ data }: { data: Ofac }) {
  const { list, matches, equivalent_forms, other_lists, proximity } = data;
  const forms = equivalent_forms.filter(({ listed }) => listed === true);
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
      </li>
      {other_lists?.map(({ list: name, listed, matches: found, as_of, reason }) => (
        <li key={name}>
          <h3>{name}</h3>
          <p>
            {listed === null && `Not determined: ${textOf(reason)}`}
            {listed === false && `Not among its entries as of ${dayOf(as_of)}.`}
            {listed === true && (
              <>
                <strong>Listed</strong> as {textOf(found?.[0]?.entity)}.
              </>
            )}
          </p>
        </li>
      ))}
      <li>
        <h3>Transfers, two hops at most</h3>
        <Proximity walk={proximity} />
      </li>
    </ul>
  );
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

/** Many addresses against the tables. */
export function BulkAnswer({ data: { results } }: { data: Bulk }) {
  return (
    <Scroll>
      <table class="tight">
        <caption>{results.length.toLocaleString('en')} addresses</caption>
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">State</th>
            <th scope="col">Sanctions list</th>
            <th scope="col">Other lists</th>
            <th scope="col">Exchange table</th>
          </tr>
        </thead>
        <tbody>
          {results.map(({ address, state, sanctions, exchange, other_lists }) => (
            <tr key={address}>
              <td>{address}</td>
              <td>{state}</td>
              <td>{sanctions === null ? 'not told' : sanctionsText(sanctions)}</td>
              <td>{other_lists === null ? 'not told' : other_lists.map(otherText).join('; ')}</td>
              <td>{exchange === null ? 'not told' : exchange.label}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function sanctionsText({
  listed,
  programs,
  list_published,
}: NonNullable<Bulk['results'][number]['sanctions']>): string {
  if (!listed) return `not on the list of ${list_published}`;
  return `LISTED (${programs === null ? 'programmes left open' : programs.join(', ')})`;
}

type Other = NonNullable<Bulk['results'][number]['other_lists']>[number];

function otherText({ list, listed }: Other): string {
  return `${list}: ${listedText(listed)}`;
}

function listedText(listed: boolean | null): string {
  if (listed === null) return 'not determined';
  return listed ? 'LISTED' : 'not among its entries';
}

function textOf(text: string | null | undefined): string {
  return text === null || text === undefined ? 'left open' : text;
}

function dayOf(at: number): string {
  return new Date(at * MS_PER_S).toISOString().slice(0, DAY_CHARS);
}

const MS_PER_S = 1_000;
const DAY_CHARS = 10;
