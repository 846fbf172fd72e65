// The parts of a dossier about lists, launches, exchanges and bridges. What each says first, by its
// badge and in a sentence, is chosen in `section.page.tsx`, since the summary of a dossier says the
// same.

import { listOrNone } from '../../evidence/measure.ts';
import { weightText } from '../../evidence/weight.ts';
import { Whole } from '../../pages/explorer.tsx';
import {
  Address,
  amountText,
  Badge,
  countWords,
  Moment,
  type Places,
  Prose,
  placesOf,
  Table,
  Tx,
  usd,
  worthText,
} from '../../pages/words.tsx';
import { type Look, lookOfOther } from '../screening/shapes.ts';
import {
  bridgesVerdict,
  Caveat,
  DossierSection,
  depositVerdict,
  exchangesVerdict,
  Folded,
  launchesVerdict,
  listVerdict,
  otherListsVerdict,
  type PartFacts,
  pathVerdict,
  Says,
  strongest,
  Unchecked,
  UncheckedByReason,
  type UncheckedPart,
  type Verdict,
  withoutCode,
} from './section.page.tsx';
import {
  BRIDGE_TRACE_CHAINS,
  type BridgesData,
  type DossierHead,
  type ExchangesData,
  type LaunchesData,
  type ListsData,
  type PartOf,
} from './shapes.ts';

export function Lists({ part, facts }: { part: PartOf<ListsData>; facts: PartFacts }) {
  const verdict = listVerdict(part);
  const { alone } = facts;
  return (
    <DossierSection
      name="lists"
      title={alone ? 'Sanctions lists, and paths to them' : 'Sanctions lists'}
      part={part}
      verdict={strongest(
        alone
          ? [verdict, otherListsVerdict(part), pathVerdict(part)]
          : [verdict, otherListsVerdict(part)],
      )}
      facts={facts}
    >
      {(data) => (
        <>
          <Direct data={data} verdict={verdict} />
          <OtherLists data={data} verdict={otherListsVerdict(part)} />
          {alone && <Path data={data} verdict={pathVerdict(part)} />}
          <Caveat text={data.caveat} chain={namedPlaces(data)} />
        </>
      )}
    </DossierSection>
  );
}

/** The chains on which it met those that its caveat names. */
function namedPlaces({ proximity: { hub_contacts, left_out_contacts } }: ListsData): Places {
  const met = [...listOrNone(hub_contacts), ...listOrNone(left_out_contacts)];
  return placesOf(met.map(({ listed_address, chain }) => [listed_address, chain]));
}

type Props = { data: ListsData; verdict: Verdict };

function Direct({ data: { matches, list, equivalent_forms: forms }, verdict }: Props) {
  return (
    <>
      <Says verdict={verdict} />
      {matches.map((match) => (
        <dl class="cells match" key={`${match.uid} ${match.listed_address}`}>
          <div>
            <dt>Entry</dt>
            <dd>
              {match.entity === null ? 'not named in the file' : match.entity}
              {match.type !== null && <span class="quiet"> ({match.type})</span>}
            </dd>
          </div>
          <div>
            <dt>Programs</dt>
            <dd>{match.programs === null ? 'not told in the file' : match.programs.join(', ')}</dd>
          </div>
          <div>
            <dt>As listed</dt>
            <dd>
              <Whole of={match.listed_address} chain={null} what="address" /> under {match.currency}
              , entry {match.uid}
            </dd>
          </div>
          {match.remarks !== null && (
            <div>
              <dt>Remarks</dt>
              <dd>
                <Prose text={match.remarks} />
              </dd>
            </div>
          )}
          {match.note !== null && (
            <div>
              <dt>Note</dt>
              <dd>
                <Prose text={match.note} />
              </dd>
            </div>
          )}
        </dl>
      ))}
      <p class="quiet">
        {list.name}, published {list.published}: {list.addresses.toLocaleString('en')} addresses,
        last checked <Moment at={list.as_of} />. SHA-256 <code class="cut">{list.sha256}</code>
      </p>
      {forms.length > 0 && (
        <details>
          <summary>{countWords(forms.length, 'other form')} of it, looked for as well</summary>
          <Table
            caption="Other forms of the address"
            rows={forms}
            columns={[
              { head: 'Form', cell: ({ form }) => form.replaceAll('_', ' ') },
              { head: 'Address', cell: ({ address }) => <Address of={address} /> },
              {
                head: 'On the list',
                cell: ({ listed }) =>
                  listed === null ? <Badge tone="open" /> : listed ? 'listed' : 'no entry',
              },
            ]}
          />
        </details>
      )}
    </>
  );
}

const ON_LIST: ReadonlyMap<Look, string> = new Map([
  ['listed', 'listed'],
  ['form_listed', 'listed in another form'],
  ['ended', 'entry ended'],
  ['no_record', 'no entry'],
]);

function OtherLists({ data: { other_lists: lists }, verdict }: Props) {
  return (
    <>
      <h3>
        Lists of other authorities <Badge {...verdict} />
      </h3>
      <Says verdict={verdict} />
      {lists !== null && (
        <Table
          caption="Each list as it was imported"
          rows={lists}
          columns={[
            { head: 'List', cell: (one) => one.list },
            { head: 'As of', cell: (one) => <Moment at={one.as_of} /> },
            { head: 'Rows', cell: (one) => one.rows.toLocaleString('en') },
            {
              head: 'This address',
              cell: (one) => {
                const look = lookOfOther(one);
                return look === 'not_checked' ? <Badge tone="open" /> : ON_LIST.get(look);
              },
            },
          ]}
        />
      )}
    </>
  );
}

function Path({ data: { proximity }, verdict }: Props) {
  const { hops_detail: hops, hub_contacts: hubs, nodes_examined: examined } = proximity;
  return (
    <>
      <h3>
        Two hops of transfers <Badge {...verdict} />
      </h3>
      <Says verdict={verdict} />
      {verdict.tone === 'hit' && <Unchecked what="Other paths:" reason={proximity.reason} />}
      {examined !== null && (
        <p class="quiet">{countWords(examined, 'address', 'addresses')} examined.</p>
      )}
      {hops !== null && (
        <Table
          caption="The largest transfer of each hop"
          rows={hops}
          columns={[
            { head: 'From', cell: (hop) => <Address of={hop.from} chain={hop.chain} /> },
            { head: 'To', cell: (hop) => <Address of={hop.to} chain={hop.chain} /> },
            {
              head: 'Amount',
              cell: (hop) =>
                hop.token_id === null ? amountText(hop.amount, hop.symbol) : `NFT ${hop.token_id}`,
            },
            { head: 'Worth', cell: (hop) => usd(hop.usd) },
            { head: 'When', cell: (hop) => <Moment at={hop.at} /> },
            { head: 'Transaction', cell: (hop) => <Tx of={hop.tx} chain={hop.chain} /> },
          ]}
        />
      )}
      {hubs !== null && hubs.length > 0 && (
        <Table
          caption="Busy counterparties that dealt with a listed address; no path leads past them"
          rows={hubs}
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
      )}
    </>
  );
}

// A summary of the outcomes of the address's launches.

const ROWS_MAX = 10;

type LaunchesProps = { part: PartOf<LaunchesData>; facts: PartFacts };

export function Launches({ part, facts }: LaunchesProps) {
  const verdict = launchesVerdict(part);
  return (
    <DossierSection
      name="launches"
      title="Tokens that it launched"
      part={part}
      verdict={verdict}
      facts={facts}
    >
      {(data) => (
        <>
          <Says verdict={verdict} />
          {data.chain === 'ethereum' ? (
            <Record record={data.record} alone={facts.alone} />
          ) : (
            <Wallet wallet={data.wallet} alone={facts.alone} />
          )}
          <p>
            <a href={`/deployer/${data.chain}/${encodeURIComponent(facts.subject)}`}>
              The whole record
            </a>
          </p>
          <Caveat text={data.chain === 'ethereum' ? data.record.caveat : data.wallet.caveat} />
        </>
      )}
    </DossierSection>
  );
}

type EthereumRecord = Extract<LaunchesData, { chain: 'ethereum' }>['record'];
type SolanaWallet = Extract<LaunchesData, { chain: 'solana' }>['wallet'];

/** So many launches stand at once where other parts stand on the page too. */
const LAUNCHES_OPEN = 2;

type RecordProps = { record: EthereumRecord; alone: boolean };

function Record({ record: { finding, launches }, alone }: RecordProps) {
  return (
    <>
      <p>
        <Prose text={finding} chain="ethereum" />
      </p>
      {launches.length > 0 && (
        <Folded
          says={`Launches, ${rowsText(launches.length)}`}
          open={alone || launches.length <= LAUNCHES_OPEN}
        >
          <Table
            rows={launches.slice(0, ROWS_MAX)}
            columns={[
              { head: 'Token', cell: (one) => <Address of={one.address} chain="ethereum" /> },
              { head: 'Outcome', cell: (one) => one.outcome.replaceAll('_', ' ') },
              { head: 'Launched', cell: (one) => <Moment at={one.created_at} /> },
            ]}
          />
        </Folded>
      )}
    </>
  );
}

type WalletProps = { wallet: SolanaWallet; alone: boolean };

function Wallet({ wallet: { entries, count, window_hours, suppressed }, alone }: WalletProps) {
  const settled = countWords(count, 'settled launch', 'settled launches');
  return (
    <>
      <p>
        {settled}, each looked at {window_hours} hours after it was made
        {suppressed > 0 && `; ${suppressed} more wait to be settled`}.
      </p>
      <Folded
        says={`Settled launches, ${rowsText(entries.length)}`}
        open={alone || entries.length <= LAUNCHES_OPEN}
      >
        <Table
          rows={entries.slice(0, ROWS_MAX)}
          columns={[
            { head: 'Mint', cell: (one) => <Address of={one.mint} chain="solana" /> },
            { head: 'Outcome', cell: (one) => one.outcome },
            { head: 'Launched', cell: (one) => <Moment at={one.launched_at} /> },
          ]}
        />
      </Folded>
    </>
  );
}

function rowsText(count: number): string {
  return count > ROWS_MAX ? `the first ${ROWS_MAX} of ${count}` : `${count} in all`;
}

// The exchange label of the address, and its transfers to and from exchanges.

const EXCHANGE_ROWS_MAX = 20;
const PERCENT = 100;

type ExchangesProps = { part: PartOf<ExchangesData>; facts: PartFacts };

export function Exchanges({ part, facts }: ExchangesProps) {
  const verdict = exchangesVerdict(part);
  return (
    <DossierSection name="exchanges" title="Exchanges" part={part} verdict={verdict} facts={facts}>
      {(data) => (
        <>
          <Says verdict={verdict} />
          <Labels data={data} alone={facts.alone} />
          <UncheckedByReason of={unreadDealings(data, verdict)} />
          <Activity activity={data.activity} alone={facts.alone} />
          <Caveat text={data.caveat} />
        </>
      )}
    </DossierSection>
  );
}

function unreadDealings(
  { linked, linked_reason, activity }: ExchangesData,
  verdict: Verdict,
): readonly UncheckedPart[] {
  const told: UncheckedPart[] = [];
  if (linked === null) told.push({ name: 'Labels of its cluster', reason: linked_reason });
  // A verdict that is open tells this reason itself.
  if (!activity.checked && verdict.tone !== 'open') {
    told.push({ name: 'Dealings with exchanges', reason: activity.reason });
  }
  return told;
}

type LabelsProps = { data: ExchangesData; alone: boolean };

function Labels({ data: { labels, linked, table_rows }, alone }: LabelsProps) {
  return (
    <>
      {labels.length > 0 ? (
        <Folded
          says={`${countWords(labels.length, 'label')} of it, of ${countWords(table_rows, 'row')}`}
          open={alone || labels.length === 1}
        >
          <Table
            rows={labels}
            columns={[
              { head: 'Label', cell: (one) => one.label },
              { head: 'Exchange', cell: (one) => one.entity },
              { head: 'Role', cell: (one) => one.role },
              { head: 'Confidence', cell: (one) => one.confidence },
              { head: 'Source', cell: (one) => one.source },
              { head: 'First seen', cell: (one) => one.first_seen },
            ]}
          />
        </Folded>
      ) : (
        <p>
          A table of {countWords(table_rows, 'row')} holds no label of it. Whose it is, that does
          not say.
        </p>
      )}
      {linked !== null && linked.length > 0 && (
        <Folded
          says={`Inferred: ${countWords(linked.length, 'labelled member')} of its cluster`}
          open={alone}
        >
          <Table
            rows={linked}
            columns={[
              {
                head: 'Address',
                cell: (one) => <Address of={one.address} chain={one.chain} />,
              },
              { head: 'Label', cell: (one) => one.label },
              { head: 'Exchange', cell: (one) => one.entity },
              { head: 'Inferred with', cell: weightText },
            ]}
          />
        </Folded>
      )}
    </>
  );
}

type ActivityProps = { activity: ExchangesData['activity']; alone: boolean };

/** Transfers that are shown with each exchange where other parts stand on the page too. */
const FIRST_TRANSFERS = 5;

function Activity({ activity, alone }: ActivityProps) {
  const { exchanges, inferred_deposit_addresses: deposits } = activity;
  const inferred = depositVerdict(deposits);
  return (
    <>
      {exchanges?.slice(0, EXCHANGE_ROWS_MAX).map((one) => (
        <details key={one.entity}>
          <summary>
            <strong>{one.entity}</strong>: received {sideText(one.transfers_in, one.usd_in)}, {}
            sent {sideText(one.transfers_out, one.usd_out)}
            {one.unpriced_transfers !== null && one.unpriced_transfers > 0 && (
              <>, both without {unpricedText(one.unpriced_transfers)}</>
            )}
            ;{' '}
            <span>
              from <Moment at={one.first_seen} /> to <Moment at={one.last_seen} />
            </span>
          </summary>
          <Table
            caption={`Transfers with ${one.entity}, the newest${alone ? ' first' : ''}`}
            rows={alone ? one.transactions : one.transactions.slice(0, FIRST_TRANSFERS)}
            columns={[
              {
                head: 'Direction',
                cell: (each) => (each.direction === 'in' ? 'received' : 'sent'),
              },
              {
                head: 'Wallet',
                cell: (each) => <Address of={each.wallet} name={each.label} chain={each.chain} />,
              },
              { head: 'Amount', cell: (each) => amountText(each.amount, each.symbol) },
              { head: 'Worth', cell: (each) => usd(each.usd) },
              { head: 'When', cell: (each) => <Moment at={each.at} /> },
              { head: 'Transaction', cell: (each) => <Tx of={each.tx} chain={each.chain} /> },
            ]}
          />
        </details>
      ))}
      {inferred !== null && (
        <p>
          <Badge {...inferred} /> {inferred.says}
        </p>
      )}
      {deposits !== null && deposits.length > 0 && (
        <Folded
          says={`${countWords(deposits.length, 'deposit address', 'deposit addresses')}, inferred`}
          open={alone}
        >
          <Table
            caption="Inferred from what they passed on"
            rows={deposits}
            columns={[
              {
                head: 'Address',
                cell: (one) => (
                  <Address
                    of={one.address}
                    name={one.is_subject ? 'this address' : null}
                    chain={[...new Set(one.assets.map(({ chain }) => chain))]}
                  />
                ),
              },
              { head: 'Exchange', cell: (one) => one.entity },
              { head: 'Passed on', cell: (one) => `${(one.ratio * PERCENT).toFixed(1)} %` },
              { head: 'Within', cell: (one) => `${one.delay_s.toLocaleString('en')} s` },
              { head: 'Inferred with', cell: weightText },
            ]}
          />
        </Folded>
      )}
    </>
  );
}

function sideText(transfers: number | null, worth: string | null): string {
  if (transfers === null) return 'an unknown number of transfers';
  const count = countWords(transfers, 'transfer');
  if (transfers === 0) return count;
  return worth === null ? `${count}, not priced` : `${usd(worth)} in ${count}`;
}

function unpricedText(count: number): string {
  return countWords(count, 'transfer that is not priced', 'transfers that are not priced');
}

// The bridge contracts that the address used on a chain, and the arrivals of its transfers.

const BRIDGE_ROWS_MAX = 20;

type BridgesProps = { part: PartOf<BridgesData>; facts: PartFacts; kind: DossierHead['kind'] };

/** The part of the bridges. Each chain is linked, whatever this one answers. */
export function Bridges({ part, facts, kind }: BridgesProps) {
  const verdict = bridgesVerdict(part);
  return (
    <DossierSection
      name="bridges"
      title="Bridges"
      part={part}
      verdict={verdict}
      facts={facts}
      after={kind === 'evm' ? <Chains part={part} subject={facts.subject} /> : undefined}
    >
      {(data) => (
        <>
          <Says verdict={verdict} />
          {verdict.tone !== 'open' && !data.coverage.checked && (
            <Unchecked what="Further transfers:" reason={data.coverage.reason} />
          )}
          {data.bridges.length > 0 && <Seen data={data} alone={facts.alone} />}
          {data.deposits !== null && (
            <Deposits deposits={data.deposits} chain={data.chain} alone={facts.alone} />
          )}
          {data.receipts !== null && !data.receipts.complete && (
            <Unchecked what="Receipts:" reason={data.receipts.reason} />
          )}
          <Caveat text={data.caveat} />
        </>
      )}
    </DossierSection>
  );
}

const DIRECTIONS = { out: 'sent', in: 'received', both: 'sent and received' } as const;

function Seen({ data, alone }: { data: BridgesData; alone: boolean }) {
  const { bridges, totals, chain, unpriced_transfers: unpriced } = data;
  const sums = [
    totals.out_usd === null ? null : `sent ${usd(totals.out_usd)}`,
    totals.in_usd === null ? null : `received ${usd(totals.in_usd)}`,
  ].filter((sum) => sum !== null);
  return (
    <>
      {sums.length > 0 && (
        <p>
          In all: {sums.join(', ')}, by the prices of each day
          {unpriced !== null && unpriced > 0 && ` and without ${unpricedText(unpriced)}`}.
        </p>
      )}
      <Folded says={`${countWords(bridges.length, 'bridge')} on ${chain}`} open={alone}>
        <Table
          rows={bridges}
          columns={[
            {
              head: 'Bridge',
              cell: (one) => (one.messaging_only ? `${one.name} (messages)` : one.name),
            },
            { head: 'Protocol', cell: (one) => one.protocol },
            { head: 'Direction', cell: (one) => DIRECTIONS[one.direction] },
            {
              head: 'Transfers',
              cell: (one) => worthText({ ...one, unpriced: one.unpriced_transfers }),
            },
            { head: 'First', cell: (one) => <Moment at={one.first_seen} /> },
            { head: 'Last', cell: (one) => <Moment at={one.last_seen} /> },
          ]}
        />
      </Folded>
    </>
  );
}

type BridgeDeposit = NonNullable<BridgesData['deposits']>[number];

const STATES = {
  matched: 'arrived',
  in_flight: 'not arrived yet',
  unmatched: 'no arrival in its time',
  messaging_only: 'a message, no money',
} as const;

type DepositsProps = { deposits: readonly BridgeDeposit[]; chain: string; alone: boolean };

function Deposits({ deposits, chain, alone }: DepositsProps) {
  const rows = deposits.slice(0, BRIDGE_ROWS_MAX);
  const cut = rows.length < deposits.length ? `: the newest ${rows.length}` : ', the newest first';
  return (
    <Folded says={`${countWords(deposits.length, 'deposit')} that it sent${cut}`} open={alone}>
      <Table
        rows={rows}
        columns={[
          { head: 'Bridge', cell: (one) => one.name },
          {
            head: 'Amount',
            cell: (one) => (one.amount === null ? 'not read' : amountText(one.amount, null)),
          },
          { head: 'When', cell: (one) => <Moment at={one.at} /> },
          { head: 'Transaction', cell: (one) => <Tx of={one.tx} chain={chain} /> },
          { head: 'Other side', cell: (one) => <OtherSide destination={one.destination} /> },
        ]}
      />
    </Folded>
  );
}

function OtherSide({ destination }: Pick<BridgeDeposit, 'destination'>) {
  const { state, chain, tx, reason } = destination;
  return (
    <>
      {state === null ? 'not checked' : STATES[state]}
      {chain !== null && ` on ${chain}`}
      {tx !== null && (
        <>
          {' '}
          <Tx of={tx} chain={chain} />
        </>
      )}
      {reason !== null && (
        <span class="quiet">
          {' '}
          <Prose text={withoutCode(reason)} />
        </span>
      )}
    </>
  );
}

function Chains({ part, subject }: { part: PartOf<BridgesData>; subject: string }) {
  const [, shown] = part.path.split('chain=');
  return (
    <p class="chains">
      Each chain is asked on its own:{' '}
      {BRIDGE_TRACE_CHAINS.map((chain) => (
        <a
          key={chain}
          href={`/address/${encodeURIComponent(subject)}/bridges?chain=${chain}`}
          {...(chain === shown ? { 'aria-current': 'true' as const } : {})}
        >
          {chain}
        </a>
      ))}{' '}
      <a href="/registry/bridges">Which contracts are looked for</a>
    </p>
  );
}
