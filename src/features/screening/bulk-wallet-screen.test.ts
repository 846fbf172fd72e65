import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import type { ExchangeLabel } from '../../ports/tables.ts';
import { type MemoryWorld, memoryPorts, silentPorts } from '../../testing/twins/ports.ts';
import { otherEntryOf } from '../../testing/twins/tables.ts';
import { bulkWalletScreenHandler } from './bulk-wallet-screen.route.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const CHECKED = NOW - 600;
const IMPORTED = NOW - 86_400;

const LISTED = '0x1111111111111111111111111111111111111111';
const LABELLED = '0x2222222222222222222222222222222222222223';
const FLAGGED = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
/** A Solana address that lost its letter case. */
const CASELESS = 'ed9t3mnermenmfbe3s6aarivgbj4wv83i16u31bqghmf';
const STRANGER = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';

const CAVEAT =
  'A screen of the tables held here: the published sanctions list, the exchange-wallet table and ' +
  'the Solana launch corpus. No transfer, counterparty or chain was read, so it is no forensic ' +
  'reconstruction, and an address that these tables do not hold is not thereby shown to be ' +
  'anything. For the full record of one address ask GET /api/v1/wallet/{address}/score.';

const FORMS_CAVEAT =
  'Other forms of the same key or account were looked for on the list too: those that stand ' +
  'there are told in equivalent_forms, apart from sanctions.';

const LIST_SOURCE = { name: 'OFAC SDN List', url: 'memory:', as_of: CHECKED };
const LABELS_SOURCE = { name: 'Exchange wallet table', url: 'memory:', as_of: IMPORTED };
const CORPUS_SOURCE = { name: 'Solana launch corpus', url: 'memory:', as_of: IMPORTED };

/** Only wallets of Solana can stand in the corpus of its launches. */
const NO_WALLET = {
  exchange_table: null,
  launch_corpus: 'does_not_apply',
  other_lists: null,
  sanctions_list: null,
};

const LABEL: ExchangeLabel = {
  address: LABELLED,
  chain: 'ethereum',
  label: 'Exemplar: Hot Wallet 1',
  entity: 'exemplar',
  role: 'hot',
  confidence: 'service_data',
  clusterable: false,
  source: 'one',
  source_url: null,
  first_seen: '2026-01-15',
};

function world(more: Partial<MemoryWorld> = {}): MemoryWorld {
  return {
    list: {
      publications: [
        {
          published: '2026-11-20',
          checked_at: CHECKED,
          entries: [
            {
              address: LISTED,
              currency: 'ETH',
              entity: 'LISTED PARTY',
              type: 'Entity',
              programs: ['CYBER2', 'SDGT'],
              uid: '1',
              remarks: null,
              listed_on: null,
              note: null,
            },
          ],
        },
      ],
      maxAgeS: 7 * DAY_S,
      simulated: false,
      now: () => NOW,
    },
    labels: { labels: [LABEL], as_of: IMPORTED, simulated: false },
    corpus: {
      launches: [
        {
          mint: 'mint',
          deployer: FLAGGED,
          launched_at: NOW - 3 * DAY_S,
          listed_after_window: false,
          last_checked_at: NOW - DAY_S,
          settled: true,
        },
      ],
      as_of: IMPORTED,
      simulated: false,
    },
    history: {
      transfers: [],
      coverage: [],
      chains: [],
      provenance: 'warehouse',
      as_of: NOW,
      simulated: false,
    },
    ...more,
  };
}

type Ports = Parameters<typeof bulkWalletScreenHandler>[0];

async function asked(
  addresses: string[],
  ports: Ports = memoryPorts(world()),
  tables?: 'sanctions_list'[],
) {
  const answer = await bulkWalletScreenHandler(ports)(
    { params: {}, query: {}, body: { addresses, tables } },
    { now: () => NOW, signal: new AbortController().signal },
    NOBODY,
  );
  return answer instanceof Refusal ? answer : answer.envelope(NOW);
}

const CHECKED_ALL = {
  exchange_table: true,
  launch_corpus: null,
  other_lists: false,
  sanctions_list: true,
};
const NEVER_IMPORTED = {
  table: 'other_lists',
  code: 'table_never_imported',
  reason:
    'No import of the table of other lists has completed on this deployment; nothing was checked.',
};
const LIST = { list_published: '2026-11-20', list_sha256: '1'.padStart(64, '0') };
const NOT_LISTED = { listed: false, programs: [], entity: null, uids: [], ...LIST };

describe('says', () => {
  test('what the tables hold of each address, and of whom they hold nothing', async () => {
    expect(await asked([LISTED, LABELLED, FLAGGED, STRANGER])).toEqual({
      state: 'ok',
      subject: 'bulk',
      sources: [LIST_SOURCE, LABELS_SOURCE, CORPUS_SOURCE],
      as_of: CHECKED,
      simulated: false,
      data: {
        results: [
          {
            address: LISTED,
            kind: 'evm',
            state: 'ok',
            exchange: null,
            launches: null,
            sanctions: {
              ...NOT_LISTED,
              listed: true,
              programs: ['CYBER2', 'SDGT'],
              entity: 'LISTED PARTY',
              uids: ['1'],
            },
            equivalent_forms: [],
            other_lists: null,
            checked: CHECKED_ALL,
            unasked: NO_WALLET,
          },
          {
            address: LABELLED,
            kind: 'evm',
            state: 'ok',
            exchange: {
              label: 'Exemplar: Hot Wallet 1',
              entity: 'exemplar',
              role: 'hot',
              confidence: 'service_data',
              clusterable: false,
            },
            launches: null,
            sanctions: NOT_LISTED,
            equivalent_forms: [],
            other_lists: null,
            checked: CHECKED_ALL,
            unasked: NO_WALLET,
          },
          {
            address: FLAGGED,
            kind: 'solana',
            state: 'ok',
            exchange: null,
            launches: { answer: 'flagged', launches_settled: 1, died: 1 },
            sanctions: NOT_LISTED,
            equivalent_forms: [],
            other_lists: null,
            checked: { ...CHECKED_ALL, launch_corpus: true },
            unasked: { ...NO_WALLET, launch_corpus: null },
          },
          {
            address: STRANGER,
            kind: 'bitcoin',
            state: 'insufficient_evidence',
            exchange: null,
            launches: null,
            sanctions: NOT_LISTED,
            equivalent_forms: [],
            other_lists: null,
            checked: CHECKED_ALL,
            unasked: NO_WALLET,
            reason:
              'None of the tables that were read holds a record of this address: ' +
              'the sanctions list, the exchange-wallet table.',
          },
        ],
        requested: 4,
        counts: { ok: 3, insufficient_evidence: 1, not_deployed: 0 },
        unread: [NEVER_IMPORTED],
        caveat: `${CAVEAT} ${FORMS_CAVEAT}`,
      },
    });
  });

  test('of tables alone, an answer of its own time', async () => {
    const answer = await asked([LABELLED], {
      ...memoryPorts(world()),
      sanctionsList: SILENT.sanctionsList,
    });
    expect(answer).toMatchObject({ state: 'ok', sources: [LABELS_SOURCE], as_of: NOW });
  });

  test('the age of the list in its caveat where it has one', async () => {
    const list = { ...world().list, maxAgeS: null };
    expect(await asked([STRANGER], memoryPorts(world({ list })))).toMatchObject({
      data: {
        caveat: `${CAVEAT} ${FORMS_CAVEAT} The age limit of the list is lifted on this deployment.`,
      },
    });
  });

  test('in a simulated world that it is simulated', async () => {
    const labels = { labels: [LABEL], as_of: IMPORTED, simulated: true };
    expect(await asked([LABELLED], memoryPorts(world({ labels })))).toMatchObject({
      sources: [LIST_SOURCE, { ...LABELS_SOURCE, name: 'Exchange wallet table (simulated)' }],
      data: { caveat: `Simulated: this answer rests on made-up data. ${CAVEAT} ${FORMS_CAVEAT}` },
    });
  });
});

test('a caveat names the lists of other authorities that were read', async () => {
  const entries = [otherEntryOf('0x9999999999999999999999999999999999999999')];
  const names = ['another-authority'];
  const otherLists = { names, entries, as_of: CHECKED, simulated: false };
  expect(await asked([LISTED], memoryPorts({ ...world(), otherLists }))).toMatchObject({
    data: {
      caveat:
        `${CAVEAT} Lists of other authorities were read too (another-authority): what they say ` +
        `stands in other_lists, apart from sanctions. ${FORMS_CAVEAT}`,
    },
  });
});

test('a caveat names the tables that were asked alone', async () => {
  expect(await asked([LISTED], memoryPorts(world()), ['sanctions_list'])).toMatchObject({
    data: {
      caveat: expect.stringMatching(/held here: the published sanctions list\. No transfer/),
    },
  });
});

const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'it is down' }));

describe('is silent', () => {
  test('of an address that nothing was found of while a table could not be read', async () => {
    const ports = { ...memoryPorts(world()), exchangeLabels: SILENT.exchangeLabels };
    expect(await asked([STRANGER], ports)).toEqual({
      state: 'ok',
      subject: 'bulk',
      sources: [LIST_SOURCE],
      as_of: CHECKED,
      simulated: false,
      data: {
        results: [
          {
            address: STRANGER,
            kind: 'bitcoin',
            state: 'not_deployed',
            exchange: null,
            launches: null,
            sanctions: NOT_LISTED,
            equivalent_forms: [],
            other_lists: null,
            checked: {
              exchange_table: false,
              launch_corpus: null,
              other_lists: false,
              sanctions_list: true,
            },
            unasked: NO_WALLET,
            reason:
              'Could not be read: the exchange-wallet table (The store could not be read: it is ' +
              'down). Nothing was found in the rest, which is no negative.',
          },
        ],
        requested: 1,
        counts: { ok: 0, insufficient_evidence: 0, not_deployed: 1 },
        unread: [
          {
            table: 'exchange_table',
            code: 'store_unreadable',
            reason: 'The store could not be read: it is down.',
          },
          NEVER_IMPORTED,
        ],
        caveat: `${CAVEAT} ${FORMS_CAVEAT}`,
      },
    });
  });

  test('altogether while no table could be read', async () => {
    expect(await asked([STRANGER, LISTED], SILENT)).toEqual({
      state: 'not_deployed',
      subject: 'bulk',
      sources: [],
      as_of: NOW,
      simulated: false,
      data: null,
      reason:
        'None of the tables gave an answer: the sanctions list (The store could not be read: it ' +
        'is down), the exchange-wallet table (The store could not be read: it is down), the ' +
        'lists of other authorities (The store could not be read: it is down); nothing was checked.',
    });
  });
});

describe('refuses', () => {
  test('each malformed position, by its place and without its text', async () => {
    const refusal = await asked([LISTED, 'secret-text', CASELESS]);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({
      status: 400,
      body: {
        error:
          'addresses[1]: form not recognised; nothing was checked; ' +
          'addresses[2]: not a 32-byte key; check its letter case',
      },
    });
  });

  test('500 malformed addresses in a short body that names the first 20', async () => {
    const refusal = await asked(Array.from({ length: 500 }, (_, i) => `${'x'.repeat(120)}${i}`));
    if (!(refusal instanceof Refusal)) throw new Error('not refused');
    const text = JSON.stringify(refusal.body);
    expect(text.length).toBeLessThan(8 * 1024);
    expect(text.match(/addresses\[/g)).toHaveLength(20);
    expect(text).toContain('and 480 more');
    expect(text).not.toContain('xxx');
  });
});
