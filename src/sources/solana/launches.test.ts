import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { LAUNCH_KINDS, type LaunchKind, worldLaunch } from '../../world/solana-launches.ts';
import { launchTransaction } from '../../world/solana-transactions.ts';
import { launchesIn } from './launches.ts';

const RECORDED = join(SHARED_DATA, 'solana/transactions');
const absent = !existsSync(RECORDED);
const title = absent ? 'recorded transactions (skipped: no shared data)' : 'recorded transactions';

describe.skipIf(absent)(title, () => {
  const said = async (file: string) => {
    const told: unknown = JSON.parse(await readFile(join(RECORDED, file), 'utf8'));
    return launchesIn(Array.isArray(told) ? told[0] : told);
  };

  test('of 29, one launches a token: its mint, its signer and its time', async () => {
    const files = await readdir(RECORDED);
    expect(files).toHaveLength(29);
    const found = await Promise.all(files.map(async (file) => [file, await said(file)] as const));
    const launching = found.flatMap(([file, read]) =>
      'launches' in read ? read.launches.map((launch) => ({ file, ...launch })) : [],
    );
    expect(launching).toEqual([
      {
        file: 'pumpfun_create_0.json',
        mint: '5dNYcCZXEGfGgbdUdq7MMR7KLsNJLLLgL83wLH8Fpump',
        deployer: '6xo262KbDXepWbF3vPTrFXysr5vJwk3mozBXmXk3hmMx',
        made_by: 'pump.create',
        signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/),
        slot: 292_743_221,
        launched_at: 1_727_637_145,
        credited_by: 'creation',
      },
    ]);
    expect(found.filter(([, read]) => 'rejected' in read)).toHaveLength(2);
  });

  test('the two broken ones are rejected with a reason', async () => {
    expect(await said('broken_data_0.json')).toEqual({
      rejected: 'it is no transaction of the encoding json',
    });
    expect(await said('broken_data_1.json')).toEqual({
      rejected: 'one of its accounts is no key',
    });
  });
});

/** A launch of the world by its instruction, at the top of its transaction or inside another. */
function launchOf(kind: LaunchKind, isInner: boolean) {
  for (let n = 14_000_000; ; n += 1) {
    const launch = worldLaunch(n);
    if (launch.kind === kind && (n % 5 === 0) === isInner) return launch;
  }
}

const MADE_BY: { readonly [K in LaunchKind]: string } = {
  pump_create: 'pump.create',
  pump_create_v2: 'pump.create_v2',
  raydium_v4: 'raydium_v4.initialize2',
  raydium_cpmm: 'raydium_cpmm.initialize',
  meteora_damm_v2: 'meteora_damm_v2.initialize_pool',
  meteora_dlmm: 'meteora_dlmm.initialize_lb_pair',
};

const CASES = LAUNCH_KINDS.flatMap((kind) => [
  { kind, isInner: false, where: 'at the top' },
  { kind, isInner: true, where: 'inside another program' },
]);

test.each(CASES)('a launch by $kind $where is read, with who signed', ({ kind, isInner }) => {
  const launch = launchOf(kind, isInner);
  const { mint, deployer, signature, at } = launch;
  const seen = { mint, signature, made_by: MADE_BY[kind], slot: 7, launched_at: at };
  expect(launchesIn(launchTransaction(launch, 7))).toEqual(
    kind.startsWith('pump')
      ? {
          launches: [{ ...seen, deployer, credited_by: 'creation' }],
          pools: [],
          made: new Map(),
        }
      : {
          launches: [],
          pools: [{ ...seen, maker: deployer }],
          made: new Map([[mint, [deployer]]]),
        },
  );
});

const LAUNCH = launchOf('pump_create', false);

function changed(change: (tx: ReturnType<typeof launchTransaction>) => void) {
  const tx = launchTransaction(LAUNCH, 7);
  change(tx);
  return launchesIn(tx);
}

test('what failed launched nothing', () => {
  const told = launchTransaction(LAUNCH, 7);
  const failed = { ...told, meta: { ...told.meta, err: { InstructionError: [1, { Custom: 6 }] } } };
  expect(launchesIn(failed)).toEqual({ launches: [], pools: [], made: new Map() });
});

test('where a program signs for somebody, whoever pays is credited, and never who is named', () => {
  const [payer, named] = [LAUNCH.mint, LAUNCH.deployer];
  const read = changed(({ transaction: { message } }) => {
    message.accountKeys[0] = payer;
    message.accountKeys[1] = 'So11111111111111111111111111111111111111112';
    // The account in the place of the signer signs nothing.
    const [, launched] = message.instructions;
    message.accountKeys.push(named);
    if (launched !== undefined) launched.accounts[7] = message.accountKeys.length - 1;
    if (launched !== undefined) launched.accounts[0] = 3;
  });
  expect(read).toMatchObject({ launches: [{ deployer: payer }] });
});

test.each([
  ['without a block time', (tx: object) => Object.assign(tx, { blockTime: null })],
  ['with an account that is no key', (tx: object) => keysOf(tx).splice(3, 1, 'no key')],
  ['whose instruction names an account it lacks', (tx: object) => keysOf(tx).splice(8)],
  ['without a message', (tx: object) => Object.assign(tx, { transaction: { signatures: ['a'] } })],
])('a transaction %s is rejected', (_, spoil) => {
  expect(changed(spoil)).toEqual({ rejected: expect.any(String) });
});

function keysOf(tx: object): string[] {
  return Reflect.get(Reflect.get(Reflect.get(tx, 'transaction'), 'message'), 'accountKeys');
}

test('a pool of two quotes, or of two other tokens, launches nothing', () => {
  const pool = launchOf('raydium_cpmm', false);
  for (const mint of ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v']) {
    const tx = launchTransaction(pool, 7);
    tx.transaction.message.accountKeys[1] = mint;
    expect(launchesIn(tx)).toMatchObject({ launches: [], pools: [] });
  }
  const tx = launchTransaction(pool, 7);
  const { accountKeys } = tx.transaction.message;
  accountKeys.splice(
    accountKeys.indexOf('So11111111111111111111111111111111111111112'),
    1,
    LAUNCH.mint,
  );
  expect(launchesIn(tx)).toMatchObject({ launches: [], pools: [] });
});
