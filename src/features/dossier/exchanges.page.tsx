// Which exchange is the address named for, and what did it exchange with exchanges?

import { Address, amountText, counted, Moment, Table, Tx, usd } from '../../pages/words.tsx';
import type { ExchangesData, PartOf } from './dossier.contract.ts';
import { Caveat, type PartFacts, Section, Unchecked } from './section.page.tsx';
import { exchangesVerdict } from './verdicts.page.tsx';

const ROWS_MAX = 20;
const PERCENT = 100;

type ExchangesProps = { part: PartOf<ExchangesData>; facts: PartFacts };

/** The part of the exchanges. */
export function Exchanges({ part, facts }: ExchangesProps) {
  const verdict = exchangesVerdict(part);
  return (
    <Section name="exchanges" title="Exchanges" part={part} verdict={verdict} facts={facts}>
      {(data) => (
        <>
          <p class={`says ${verdict.tone}`}>{verdict.says}</p>
          <Labels data={data} />
          <Activity activity={data.activity} isSaid={verdict.tone === 'open'} />
          <Caveat>{data.caveat}</Caveat>
        </>
      )}
    </Section>
  );
}

function Labels({ data: { labels, linked, linked_reason, table_rows } }: { data: ExchangesData }) {
  return (
    <>
      {labels.length > 0 ? (
        <Table
          caption={`Labels of it, of a table of ${counted(table_rows, 'row')}`}
          heads={['Label', 'Exchange', 'Role', 'Confidence', 'Source', 'First seen']}
          rows={labels.map((one) => [
            one.label,
            one.entity,
            one.role,
            one.confidence,
            one.source,
            one.first_seen,
          ])}
        />
      ) : (
        <p>
          A table of {counted(table_rows, 'row')} holds no label of it. Whose it is, that does not
          say.
        </p>
      )}
      {linked !== null && linked.length > 0 && (
        <Table
          caption="Labelled addresses of its cluster"
          heads={['Address', 'Label', 'Exchange']}
          rows={linked.map((one) => [
            <Address key="who" of={one.address} />,
            one.label,
            one.entity,
          ])}
        />
      )}
      {linked === null && <Unchecked what="Labels of its cluster:" reason={linked_reason} />}
    </>
  );
}

type ActivityProps = { activity: ExchangesData['activity']; isSaid: boolean };

function Activity({ activity, isSaid }: ActivityProps) {
  const { exchanges, inferred_deposit_addresses: deposits, checked, reason } = activity;
  return (
    <>
      {!checked && !isSaid && <Unchecked what="Dealings with exchanges:" reason={reason} />}
      {exchanges?.slice(0, ROWS_MAX).map((one) => (
        <div key={one.entity}>
          <h3>{one.entity}</h3>
          <p>
            Received {sideText(one.transfers_in, one.usd_in)}, sent{' '}
            {sideText(one.transfers_out, one.usd_out)}; from <Moment at={one.first_seen} /> to
            <Moment at={one.last_seen} />.
          </p>
          <Table
            caption={`Transfers with ${one.entity}, the newest first`}
            heads={['Direction', 'Wallet', 'Amount', 'Worth', 'When', 'Transaction']}
            rows={one.transactions.map((each) => [
              each.direction === 'in' ? 'received' : 'sent',
              <Address key="wallet" of={each.wallet} name={each.label} />,
              amountText(each.amount, each.symbol),
              usd(each.usd),
              <Moment key="at" at={each.at} />,
              <Tx key="tx" of={each.tx} />,
            ])}
          />
        </div>
      ))}
      {deposits !== null && deposits.length > 0 && (
        <Table
          caption="Deposit addresses, inferred from what they passed on"
          heads={['Address', 'Exchange', 'Passed on', 'Within', 'Weight']}
          rows={deposits.map((one) => [
            <Address key="who" of={one.address} name={one.is_subject ? 'this address' : null} />,
            one.entity,
            `${(one.ratio * PERCENT).toFixed(1)} %`,
            `${one.delay_s.toLocaleString('en')} s`,
            one.weight.toFixed(2),
          ])}
        />
      )}
    </>
  );
}

function sideText(transfers: number | null, worth: string | null): string {
  if (transfers === null) return 'an unknown number of transfers';
  return worth === null
    ? counted(transfers, 'transfer')
    : `${counted(transfers, 'transfer')} worth ${usd(worth)}`;
}
