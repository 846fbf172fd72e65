import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { readConfig } from '../../config.ts';
import { bridgeServices } from '../../features/bridges/feature.ts';
import { registryCheck } from '../../features/bridges/registry.command.ts';
import { type Anvil, anvilPath, startAnvil } from '../../testing/anvil.ts';
import { compileContracts } from '../../testing/contracts.ts';
import { ran } from '../../testing/recording-io.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'exhibit-registry-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEADING = 'chain,address,protocol,name,role,valid_from_block,also_on,sources,reviewed,note';
let files = 0;

function fileOf(...lines: string[]): string {
  files += 1;
  const path = join(folder, `${files}.csv`);
  writeFileSync(path, [HEADING, ...lines].join('\n'));
  return path;
}

const lineOf = (address: string, name = 'Bridge', protocol = 'hop') =>
  `ethereum,${address},${protocol},${name},lock,,,https://example.org/a,2026-01-01,`;
const SPOKE = '0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5';

function checksummed(text: string): string {
  const address = parseEvmAddress(text);
  if (address === null) throw new Error('no address');
  return checksumAddress(address);
}

const check = (words: string, services = bridgeServices(null)) =>
  ran(`registry check ${words}`, [registryCheck], services);

describe('registry check', () => {
  test('takes both tables of the product where no file is named, and says what was not verified', async () => {
    const { status, lines } = await check('');
    expect(status).toBe(0);
    expect(lines).toEqual([
      'registry/bridge-contracts.csv: 265 rows, 265 accepted, 0 refused.',
      'No node is set for ethereum, arbitrum, base, bsc, polygon: code and events not verified.',
      'registry/exchange-wallets.csv: 422 rows, 422 accepted, 0 refused.',
    ]);
  });

  test('judges a table of exchange wallets by the rules of its import', async () => {
    const shipped = new URL('../../../registry/exchange-wallets.csv', import.meta.url);
    const [heading = '', row = ''] = readFileSync(shipped, 'utf8').split('\n');
    const path = join(folder, 'wallets.csv');
    const zero = `0x${'0'.repeat(40)}`;
    const nobody = row.replace(/0x[0-9a-f]{40}/, zero);
    writeFileSync(path, [heading, row, row, nobody, row.replace('https:', 'page:')].join('\n'));
    const { status, lines } = await check(`${path} --json`);
    expect(status).toBe(1);
    expect(JSON.parse(String(lines[0]))).toMatchObject({
      file: path,
      rows: 4,
      accepted: 1,
      nodes: [],
      without_node: [],
      refused: [
        { line: 3, code: 'duplicate' },
        { line: 4, code: 'system_address', chain: 'ethereum', address: zero },
        { line: 5, code: 'bad_link' },
      ],
    });
  });

  test('names each refused row with its line and why, and exits 1', async () => {
    const zero = '0x0000000000000000000000000000000000000000';
    const file = fileOf(lineOf(SPOKE), lineOf(zero), lineOf(SPOKE, 'Gateway', 'axelar'));
    const { status, lines } = await check(`${file} --json`);
    expect(status).toBe(1);
    expect(JSON.parse(String(lines[0]))).toEqual(
      expect.objectContaining({
        rows: 3,
        accepted: 1,
        status: 1,
        nodes: [],
        without_node: ['ethereum'],
        refused: [
          expect.objectContaining({ line: 3, address: zero, code: 'system_address' }),
          expect.objectContaining({ line: 4, address: SPOKE, code: 'unknown_protocol' }),
        ],
      }),
    );
    const plain = await check(file);
    expect(plain.lines.join('\n')).toContain('system_address');
  });

  test('fails on a file that is missing, is no table or holds no row', async () => {
    const missing = await check(join(folder, 'none.csv'));
    expect([missing.status, missing.errors]).toEqual([1, ['The file cannot be opened.']]);
    const other = join(folder, 'other.csv');
    writeFileSync(other, 'a,b\n1,2\n');
    expect((await check(other)).status).toBe(1);
    expect((await check(fileOf())).errors).toEqual(['The table holds no row.']);
  });
});

const NO_ANVIL = anvilPath() === null ? 'skipped: anvil is not installed' : null;
const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;
contract Token {
  function totalSupply() external pure returns (uint256) { return 1; }
  function decimals() external pure returns (uint8) { return 6; }
}
contract Pool {
  function getToken(uint8) external view returns (address) { return address(this); }
  function getVirtualPrice() external pure returns (uint256) { return 1; }
}
contract Bridge {
  event Withdrew(bytes32 indexed transferId, address indexed recipient, uint256 amount, bytes32 n);
  constructor() { emit Withdrew(0, msg.sender, 1, 0); }
}`;

describe.skipIf(NO_ANVIL !== null)(`with a node ${NO_ANVIL ?? ''}`, () => {
  let anvil: Anvil;
  const at = new Map<string, string>();
  const withNode = (url: string) => {
    const configured = readConfig({ flags: { EXHIBIT_RPC_ETHEREUM: url } });
    if (!configured.ok) throw new Error(configured.problems.join());
    return bridgeServices(configured.config);
  };

  beforeAll(async () => {
    anvil = await startAnvil(1);
    const compiled = await compileContracts(SOURCE);
    const [from = ''] = anvil.accounts;
    for (const name of ['Token', 'Pool', 'Bridge']) {
      const [hash] = await anvil.mine({ from, data: compiled(name).code });
      at.set(name, checksummed(await anvil.created(hash)));
    }
  });
  afterAll(() => anvil.stop());

  test('a token, a pool and an address without code are refused; a bridge is taken', async () => {
    const names = ['Token', 'Pool', 'Bridge'].map((name) => lineOf(String(at.get(name))));
    const file = fileOf(...names, lineOf(SPOKE));
    const { status, lines } = await check(`${file} --json`, withNode(anvil.url.href));
    const said: unknown = JSON.parse(String(lines[0]));
    expect(status).toBe(1);
    const refused = (name: string | undefined, code: string) =>
      expect.objectContaining({ address: name, code });
    expect(said).toEqual(
      expect.objectContaining({
        rows: 4,
        accepted: 1,
        without_node: [],
        nodes: [
          expect.objectContaining({
            chain: 'ethereum',
            rows: 4,
            checked: 4,
            events_seen: 1,
            silent: null,
            refused: [
              refused(at.get('Token'), 'token_contract'),
              refused(at.get('Pool'), 'amm_pool'),
              refused(SPOKE, 'no_code'),
            ],
          }),
        ],
      }),
    );
  });

  test('one that does not answer confirms nothing: exit status 3', async () => {
    const { status, errors } = await check(fileOf(lineOf(SPOKE)), withNode('http://127.0.0.1:1'));
    expect(status).toBe(3);
    expect(errors.join()).toContain('ethereum: not all checked');
  });

  test('one of another chain confirms nothing', async () => {
    const other = await startAnvil(10);
    const { status } = await check(fileOf(lineOf(SPOKE)), withNode(other.url.href));
    await other.stop();
    expect(status).toBe(3);
  });
});
