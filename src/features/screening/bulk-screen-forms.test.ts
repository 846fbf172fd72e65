import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { Claim } from '../../evidence/claim.ts';
import { why } from '../../evidence/reasons.ts';
import { type MemoryWorld, memoryPorts, silentPorts } from '../../testing/twins/ports.ts';
import { entryOf } from '../../testing/twins/sanctions.ts';
import { bulkScreen, type ScreenPorts } from './bulk-screen.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'it is down' }));
const STRANGER = '0x4444444444444444444444444444444444444445';
const HISTORY: MemoryWorld['history'] = {
  transfers: [],
  coverage: [],
  chains: [],
  provenance: 'warehouse',
  as_of: NOW,
  simulated: false,
};

/** A result as the client sees it: claims as their plain values. */
function plain(value: unknown): unknown {
  if (value instanceof Claim) return plain(value.shown);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

async function resultsOf(addresses: readonly string[], asked: ScreenPorts) {
  const screen = await bulkScreen(addresses, asked, { now: NOW });
  if (screen.outcome !== 'screened') throw new Error(`not screened: ${screen.outcome}`);
  return screen.results.map(plain);
}

/** One address of every form, of the key of BIP-173's example where it has one. */
const EVERY_FORM = {
  bitcoin_p2pkh: '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
  bitcoin_p2sh: '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC',
  bitcoin_segwit: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  bitcoin_taproot: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  litecoin: 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ',
  litecoin_p2sh: 'MJiPwX84iBe4WnFDwsYGgtnz1XonPhUqhf',
  litecoin_segwit: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  dogecoin_or_verge: 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE',
  dash: 'XmN7PQYWKn5MJFna5fRYgP6mxT2F7xpekE',
  zcash_transparent: 't1UYsZVJkLPeMjxEtACvSxfWuNmddpWfxzs',
  zcash_sapling: 'zs1z7rejlpsa98s2rrrfkwmaxu53e4ue0ulcrw0h4x5g8jl04tak0d3mm47vdtahatqrlkngh9slya',
  zcash_sprout:
    'zcU1Cd6zYyZCd2VJF8yKgmzjxdiiU1rgTTjEwoN1CGUWCziPkUTXUjXmX7TMqdMNsTfuiGN1jQoVN4kGxUR4sAPN4XZ7pxb',
  ripple: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
  monero:
    '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge',
  monero_integrated:
    '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK',
  bitcoin_cash: 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
  bitcoin_gold: 'GUXByHDZLvU4DnVH9imSFckt3HEQ5cFgE5',
  ethereum_classic: '0xd882cfc20f52f2599d84b8e8d58c7fb62cfe344b',
  tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  solana: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
};

function withList(listed: readonly string[], checked_at = NOW - 60): ScreenPorts {
  const entries = listed.map((address) => ({ ...entryOf(address), programs: ['CYBER2'] }));
  const list: MemoryWorld['list'] = {
    publications: [{ published: '2026-11-20', checked_at, entries }],
    maxAgeS: 7 * DAY_S,
    simulated: false,
    now: () => NOW,
  };
  const labels = { labels: [], as_of: NOW, simulated: false };
  const corpus = { launches: [], as_of: NOW, simulated: false };
  return memoryPorts({ list, labels, corpus, history: HISTORY });
}

describe('an address of a form that the list uses', () => {
  const all = Object.values(EVERY_FORM);

  test('is screened in one batch with every other, and none is malformed', async () => {
    const capitals = all.filter((text) => /^(bc1|ltc1|zs1|q)/.test(text));
    const asked = [...all, ...capitals.map((text) => text.toUpperCase())];
    const results = await resultsOf(
      [...asked, `bitcoincash:${EVERY_FORM.bitcoin_cash}`],
      withList([STRANGER]),
    );
    expect(results).toHaveLength(all.length + capitals.length + 1);
    for (const result of results) {
      expect(result).toMatchObject({ sanctions: { listed: false }, equivalent_forms: [] });
    }
  });

  test.each(Object.entries(EVERY_FORM))(
    'is listed where the list holds it: %s',
    async (_, text) => {
      expect(await resultsOf([text], withList([text]))).toMatchObject([
        { address: text, state: 'ok', sanctions: { listed: true, programs: ['CYBER2'] } },
      ]);
    },
  );

  test('is listed in capitals, as QR codes have it, and is no Solana key', async () => {
    // Without a character that base58 lacks: 32 bytes, were it read as that.
    const text = 'ltc1qaa7vz9hk5lhfqvfj56c3vm53ndmrwu8vh4hj66';
    const capitals = text.toUpperCase();
    for (const asked of [text, capitals]) {
      expect(await resultsOf([asked], withList([text]))).toMatchObject([
        { address: text, kind: 'other', sanctions: { listed: true } },
      ]);
    }
  });
});

describe('another form of the same key or account', () => {
  const { bitcoin_segwit: listed, bitcoin_p2pkh: asked } = EVERY_FORM;
  const FORM = { form: 'bitcoin_segwit', address: listed, relation: 'same_key', listed: true };

  test('that is listed stands in its own field, and the address is not listed for it', async () => {
    expect(await resultsOf([asked, STRANGER], withList([listed]))).toMatchObject([
      { state: 'ok', sanctions: { listed: false, programs: [] }, equivalent_forms: [FORM] },
      { state: 'insufficient_evidence', sanctions: { listed: false }, equivalent_forms: [] },
    ]);
  });

  test('that is listed is told by a list past its age, of which nothing else is', async () => {
    const results = await resultsOf([asked, STRANGER], withList([listed], NOW - 9 * DAY_S));
    expect(results).toMatchObject([
      {
        state: 'ok',
        sanctions: null,
        equivalent_forms: [FORM],
        checked: { sanctions_list: false },
      },
      { state: 'not_deployed', sanctions: null, equivalent_forms: null },
    ]);
  });

  test('is looked for where the list is read, and denied nowhere else', async () => {
    const unread = { ...withList([listed]), sanctionsList: SILENT.sanctionsList };
    expect(await resultsOf([asked], unread)).toMatchObject([{ equivalent_forms: null }]);
  });

  test('of an EVM address is its Tron address, and the reverse', async () => {
    const { tron } = EVERY_FORM;
    const hex = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
    expect(await resultsOf([hex], withList([tron]))).toMatchObject([
      { sanctions: { listed: false }, equivalent_forms: [{ form: 'tron_base58', address: tron }] },
    ]);
    expect(await resultsOf([tron], withList([hex]))).toMatchObject([
      { sanctions: { listed: false }, equivalent_forms: [{ form: 'evm_hex', address: hex }] },
    ]);
  });
});
