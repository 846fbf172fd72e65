import { describe, expect, test } from 'vitest';
import { why } from '../../../evidence/reasons.ts';
import { named } from '../../../testing/addresses.ts';
import { STILL_NOW } from '../../../testing/clock.ts';
import { checkedKinds, foundOf, scored } from '../../../testing/finding-suite.ts';
import { forensicPorts } from '../../../testing/forensic-ports.ts';
import { memoryEntityClusters, silentEntities } from '../../../testing/twins/entities.ts';

const SUBJECT = named('bitcoin', 'subject');
const TXS = ['a', 'b', 'c'].map((one) => one.repeat(64)) as [string, string, string];
const joint = (n: 0 | 1 | 2, form: 'wasabi_2_0' | 'joinmarket', spent: boolean, paid: boolean) => {
  return { address: SUBJECT, tx: TXS[n], block: 800_000 - n, at: 1_690_000_000, form, spent, paid };
};
const joined = [
  joint(0, 'wasabi_2_0', true, true),
  joint(1, 'wasabi_2_0', false, true),
  joint(2, 'joinmarket', true, false),
];
const held = {
  clusters: [],
  examined: 'everyone',
  as_of: STILL_NOW - 60,
  simulated: false,
} as const;
const RECORD = {
  evidence: 'record',
  chain: 'bitcoin',
  at: '2023-07-22T04:26:40.000Z',
  name: 'coinjoin',
};

function portsOf(rows: typeof joined) {
  const entityClusters = memoryEntityClusters({ ...held, joined: rows });
  return { ...forensicPorts({ history: { chains: ['bitcoin'] } }), entityClusters };
}

describe('CoinJoins', () => {
  test('are found with each transaction, by protocol, and whether coins were spent or paid', async () => {
    const evidence = await scored(SUBJECT, {}, portsOf(joined));
    expect(foundOf(evidence, 'coinjoin')).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        kind: 'coinjoin',
        title: 'CoinJoins',
        statement:
          'It is spent from or paid in transactions that by their form several people make ' +
          'together, or that prepare one: 1 of JoinMarket’s form, 2 of Wasabi 2.0’s form ' +
          '(WabiSabi). Whoever is only paid in one may be a stranger to those who made it.',
        evidence: [
          Object.assign(
            { tx: TXS[0], block: 800_000 },
            { value: 'Wasabi 2.0’s form (WabiSabi): its coins were spent, and it was paid' },
            RECORD,
          ),
          Object.assign(
            { tx: TXS[1], block: 799_999, value: 'Wasabi 2.0’s form (WabiSabi): it was paid' },
            RECORD,
          ),
          Object.assign(
            { tx: TXS[2], block: 799_998, value: 'JoinMarket’s form: its coins were spent' },
            RECORD,
          ),
        ],
        evidence_count: 3,
        initiated_by_subject: true,
        source: 'Entity clusters of this deployment',
        as_of: STILL_NOW - 60,
      },
    ]);
  });

  test('are denied where every block was read, and not where the source is silent', async () => {
    const none = await scored(SUBJECT, {}, portsOf([]));
    expect(foundOf(none, 'coinjoin')).toBeNull();
    expect(checkedKinds(none)).toContain('coinjoin');
    const { entityClusters } = silentEntities(why('timed_out', { what: 'It', limit: '1 s' }));
    const silent = await scored(SUBJECT, {}, { ...portsOf([]), entityClusters });
    expect(checkedKinds(silent)).not.toContain('coinjoin');
    expect(silent.checked.checked).toBe(false);
  });
});
