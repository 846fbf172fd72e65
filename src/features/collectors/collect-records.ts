// The collectors over lists, tables, records and what a chain says of one address.

import { matchKey } from '../../chain/address.ts';
import { addDecimals, formatUnits } from '../../chain/amount.ts';
import { isEvmChain } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { rowsUnder } from '../../evidence/measure.ts';
import { both, map, type Partly, Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { FreezeState } from '../../ports/accounts.ts';
import {
  type CommittedRecord,
  DEPLOYER_CHAIN,
  type DeployerRecordsPort,
  type ListedPool,
  type WalletLaunchesPort,
  type WalletRecord,
} from '../../ports/deployers.ts';
import type { FlaggedRow, LaunchFlag } from '../../ports/rug-flags.ts';
import { type PublishedModel, SCORED_CHAINS } from '../../ports/rug-model.ts';
import type { ListLookUp } from '../../ports/sanctions.ts';
import type { ExchangeLabel } from '../../ports/tables.ts';
import type { HeldToken, TokenMint } from '../../ports/token-holders.ts';
import { countsOf, recordFields, wholeRecord, whyNoRecord } from '../deployers/record.ts';
import { readWindow, WINDOW_S } from '../rugs/watch.ts';
import {
  directCheck,
  entriesOf,
  type ListSubject,
  listSubject,
  spellingsOf,
} from '../sanctions/direct-check.ts';
import { launchAnswer } from '../tables/launches.ts';
import {
  decimalOrNull,
  decimalText,
  type EvidenceValues,
  type Gathered,
  gapOf,
  gather,
  outsideText,
  outsideTextOrNull,
  rowsAs,
} from './bundle.ts';
import { type CollectorPorts, type CollectorRequest, onEvm, untoldOn } from './collector.ts';

/** Whether the list names the address itself; other forms of it are told apart. */
export async function collectSanctions(
  { sanctionsList }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const subject = listSubject(asked.target.address);
  if (subject === null) return gapOf('sanctions', why('form_not_recognised'));
  const look = await sanctionsList.lookUp(spellingsOf(subject));
  // A list past its age shows a listing and no absence: it gives neither here.
  return gather('sanctions', look, (list) => listValues(list, subject, look), asked);
}

function listValues(
  list: ListLookUp,
  subject: ListSubject,
  look: Parameters<typeof directCheck>[1],
): EvidenceValues {
  const entries = entriesOf(list, subject.address);
  const check = directCheck(subject, look, false);
  const forms = check.outcome === 'misformed' ? [] : check.listedForms;
  return {
    listed: entries.length > 0,
    entries: entries.length,
    list_published: list.list.published,
    list_sha256: list.list.sha256,
    listed_forms: forms.length,
    ...rowsAs('entry', entries, ({ uid, entity, programs, listed_on }) => ({
      uid: outsideText(uid),
      entity: outsideTextOrNull(entity),
      programs: outsideTextOrNull(programs === null ? null : programs.join(', ')),
      listed_on,
    })),
  };
}

export async function collectLabels(
  { exchangeLabels }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { address } = asked.target;
  const look = await exchangeLabels.lookUp([address]);
  return gather(
    'labels',
    look,
    ({ found }) => labelValues(rowsUnder(found, matchKey(address))),
    asked,
  );
}

function labelValues(rows: readonly ExchangeLabel[]): EvidenceValues {
  return {
    exchange_labels: rows.length,
    ...rowsAs('row', rows, ({ entity, label, role, chain, source, first_seen }) => ({
      entity: outsideText(entity),
      label: outsideText(label),
      role,
      chain: outsideTextOrNull(chain),
      source: outsideText(source),
      first_seen,
    })),
  };
}

/** The kinds of a flag that support a verdict, by the exact words of the published tables. */
const FLAG_KINDS: ReadonlyMap<string, 'phishing' | 'exploit' | 'theft'> = new Map([
  ['phish-hack', 'phishing'],
  ['phish/hack', 'phishing'],
  ['phishing', 'phishing'],
  ['exploit', 'exploit'],
  ['exploiter', 'exploit'],
  ['service_hack', 'exploit'],
  ['hack', 'exploit'],
  ['heist', 'theft'],
  ['theft', 'theft'],
]);

export async function collectFlags(
  { flaggedAddresses }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { address } = asked.target;
  const key = matchKey(address);
  const look = await flaggedAddresses.lookUp([address]);
  return gather(
    'flags',
    look,
    ({ found, created }) => ({
      rows: rowsUnder(found, key).length,
      contracts_made: rowsUnder(created, key).length,
      ...rowsAs('row', rowsUnder(found, key), (row) => flagValues(row, asked)),
    }),
    asked,
  );
}

function flagValues(row: FlaggedRow, asked: CollectorRequest): EvidenceValues {
  const kind = FLAG_KINDS.get(row.category.toLowerCase());
  return {
    kind: kind === undefined ? 'other' : kind,
    chain_fits: fitsChain(row, asked),
    category: outsideText(row.category),
    tag: outsideText(row.tag),
    chain: outsideTextOrNull(row.chain),
    source: outsideText(row.source),
    source_url: outsideTextOrNull(row.source_url),
    first_seen: row.first_seen,
  };
}

/** A key of an account is the same on every EVM chain; a contract is one chain's alone. */
function fitsChain({ chain, is_contract }: FlaggedRow, { target }: CollectorRequest): boolean {
  if (chain === null || chain === target.chain) return true;
  return is_contract === false && isEvmChain(target.chain);
}

/** The record of the target as a deployer, as it is held: nobody is walked for it. */
export async function collectDeployer(
  { deployerRecords, walletLaunches }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { chain, address } = asked.target;
  if (chain === 'solana') {
    const reading = await walletLaunches.of(address);
    return gather('deployer', reading, walletValues, asked);
  }
  const record: Partly<CommittedRecord, DeployerRecordsPort> =
    chain === DEPLOYER_CHAIN
      ? wholeRecord(await deployerRecords.heldOf(address))
      : unread('deployer_records', untoldOn(chain, 'What an address launched'));
  return gather('deployer', record, (held) => recordValues(held, asked.now), asked);
}

function walletValues({ settled, died, waiting, corpus }: WalletRecord): EvidenceValues {
  const count = { deployer: '', launches_settled: settled, died };
  return {
    state: settled === 0 ? 'no_record' : launchAnswer(count),
    settled,
    died,
    waiting: waiting.length,
    corpus_launches: corpus.settled_launches,
  };
}

function recordValues(record: CommittedRecord, now: number): EvidenceValues {
  const { listed_launches, died, survived, never_listed, death_rate } = countsOf(record.launches);
  return {
    state: whyNoRecord(record) === null ? recordFields(record, now).state : 'no_record',
    listed_launches,
    died,
    survived,
    never_listed,
    death_rate: decimalOrNull(death_rate),
    captured_at: formatIsoTime(record.captured_at),
    contracts_examined: record.launches.length + record.skipped.length,
  };
}

/** Who launched the target, where it is a token or a contract. */
export async function collectLaunch(
  { walletLaunches, chainFacts }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { chain, address } = asked.target;
  if (chain === 'solana') {
    const look: Partly<EvidenceValues, WalletLaunchesPort> = map(
      await walletLaunches.launchOf(address),
      ({ launch }) =>
        launch === null
          ? { on_record: false }
          : {
              on_record: true,
              launcher: launch.deployer,
              launched_at: formatIsoTime(launch.launched_at),
              tx: launch.signature,
            },
    );
    return gather('launches', look, (values) => values, asked);
  }
  const made = await onEvm('chain_facts', 'Who made a contract or a token', asked, async (evm) => {
    const { code, creation } = await chainFacts.of(
      evm,
      address,
      ['code', 'creation'],
      asked.signal,
    );
    if (code instanceof Read && code.value.size === 0) return map(code, () => NOT_A_CONTRACT);
    return map(both({ code, creation }), (one): EvidenceValues => {
      const { creator, factory, relay, tx, block } = one.creation;
      return { is_contract: true, creator, factory, relay, tx, block };
    });
  });
  return gather('launches', made, (values) => values, asked);
}

const NOT_A_CONTRACT: EvidenceValues = { is_contract: false };

/** The pools of the target at a venue, as it lists them now. */
export async function collectVenue(
  { venueOn, launchListings }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { chain, address } = asked.target;
  if (chain === 'solana') {
    const state = await launchListings.stateOf(address, asked.signal);
    return gather('venue', state, (listing): EvidenceValues => ({ listing }), asked);
  }
  const pools = await onEvm('venue', 'Where a token trades', asked, (evm) =>
    venueOn(evm).poolsOf(address, asked.signal),
  );
  return gather('venue', pools, poolValues, asked);
}

function poolValues(pools: readonly ListedPool[]): EvidenceValues {
  const base = pools.filter(({ side }) => side === 'base');
  return {
    pools: pools.length,
    base_pools: base.length,
    liquidity_usd: sumOf(base.map((one) => one.liquidity_usd)),
    volume_usd_24h: sumOf(base.map((one) => one.volume_usd_24h)),
  };
}

/** The sum of what every pool tells; `null` where there is none, or one of them leaves it out. */
function sumOf(amounts: readonly (number | null)[]): string | null {
  const told = amounts.filter((one) => one !== null).map(decimalText);
  const [first, ...rest] = told;
  if (first === undefined || told.length < amounts.length) return null;
  return rest.reduce(addDecimals, first);
}

/** The largest accounts of the target, where it is a mint of Solana. One owner may have several. */
export async function collectHolders(
  { tokenHolders }: CollectorPorts,
  { target: { chain, address }, ...asked }: CollectorRequest,
): Promise<Gathered> {
  if (chain !== 'solana') return gapOf('holders', untoldOn(chain, 'Who holds a token'));
  const largest = await tokenHolders.largestOf(address, asked.signal);
  return gather('holders', largest, holderValues, asked);
}

function holderValues(token: HeldToken | null): EvidenceValues {
  if (token === null) return { is_mint: false };
  const { mint, accounts } = token;
  const { supply, decimals } = mint;
  const shares = accounts.map(({ raw_amount }) => raw_amount);
  return {
    is_mint: true,
    supply: formatUnits(supply, decimals),
    accounts_seen: accounts.length,
    share_of_largest: shareOf(shares.slice(0, 1), supply),
    share_of_ten: shareOf(shares.slice(0, TEN), supply),
    ...rowsAs('account', accounts, ({ account, owner, raw_amount }) => ({
      account,
      owner,
      amount: formatUnits(raw_amount, decimals),
      share: shareOf([raw_amount], supply),
    })),
  };
}

const TEN = 10;
const SHARE_DIGITS = 6;

/** A share of a supply, rounded down; `null` where there is none, or it shrank meanwhile. */
function shareOf(amounts: readonly bigint[], supply: bigint): string | null {
  const sum = amounts.reduce((total, one) => total + one, 0n);
  if (supply === 0n || sum > supply) return null;
  return formatUnits((sum * 10n ** BigInt(SHARE_DIGITS)) / supply, SHARE_DIGITS);
}

/** Who has powers over the target, where it is a contract, or a mint of Solana. */
export async function collectAuthorities(
  { chainFacts, tokenHolders }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { chain, address } = asked.target;
  if (chain === 'solana') {
    const mint = await tokenHolders.mintOf(address, asked.signal);
    return gather('authorities', mint, mintValues, asked);
  }
  const powers = await onEvm('chain_facts', 'Who has powers over a token', asked, async (evm) => {
    const { code, authority } = await chainFacts.of(
      evm,
      address,
      ['code', 'authority'],
      asked.signal,
    );
    const bare = map(
      code,
      ({ size, delegates_to }): EvidenceValues => ({ has_code: size > 0, delegates_to }),
    );
    if (code instanceof Read && code.value.size === 0) return bare;
    return map(both({ code, authority }), (one): EvidenceValues => {
      const { delegates_to, minimal_proxy_of } = one.code;
      const { implementation, admin, beacon, owner } = one.authority;
      return {
        has_code: one.code.size > 0,
        delegates_to,
        minimal_proxy_of,
        implementation,
        admin,
        beacon,
        owner,
      };
    });
  });
  return gather('authorities', powers, (values) => values, asked);
}

function mintValues(mint: TokenMint | null): EvidenceValues {
  if (mint === null) return { is_mint: false };
  const { program, mint_authority, freeze_authority, permanent_delegate } = mint;
  return { is_mint: true, program, mint_authority, freeze_authority, permanent_delegate };
}

/** The name of its verified source, which whoever verified it wrote. */
export async function collectContract(
  { chainFacts }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { address } = asked.target;
  const named = await onEvm(
    'chain_facts',
    'The verified source of a contract',
    asked,
    async (evm) => {
      const { verified_name } = await chainFacts.of(evm, address, ['verified_name'], asked.signal);
      return verified_name;
    },
  );
  const values = (name: string | null): EvidenceValues => ({
    verified: name !== null,
    verified_name: outsideTextOrNull(name),
  });
  return gather('contract', named, values, asked);
}

/** Whether issuers hold tokens of it frozen. */
export async function collectFreezes(
  { issuerFreezes }: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { address } = asked.target;
  const what = 'Whether an issuer froze tokens of an address';
  const states = await onEvm('issuer_freezes', what, asked, (evm) =>
    issuerFreezes.of(evm, address, asked.signal),
  );
  return gather('freezes', states, freezeValues, asked);
}

function freezeValues(states: readonly FreezeState[]): EvidenceValues {
  const values: { [path: string]: string | number | boolean } = {
    issuers_asked: states.length,
    frozen_by: states.filter(({ frozen }) => frozen).length,
  };
  for (const { token, frozen, block } of states) {
    const name = token.symbol.toLowerCase().replaceAll(/[^a-z0-9]/g, '_');
    values[`${name}.frozen`] = frozen;
    values[`${name}.block`] = block;
    values[`${name}.token`] = token.address;
  }
  return values;
}

/** Whether the rug model in force flags it, or a token that it launched. */
export async function collectRugFlag(
  ports: CollectorPorts,
  asked: CollectorRequest,
): Promise<Gathered> {
  const { rugFlags, modelInForce } = ports;
  const { chain, address } = asked.target;
  if (!SCORED_CHAINS.some((one) => one === chain)) {
    return gapOf('rug_flag', untoldOn(chain, 'Whether a rug model flags a launch'));
  }
  const [window, model] = await Promise.all([rugFlags.inWindow(WINDOW_S), modelInForce()]);
  if (window instanceof Read && window.value.chains.length === 0) {
    return gapOf('rug_flag', why('never_scored'));
  }
  if (window instanceof Read && !window.value.chains.some((one) => one.chain === chain)) {
    return gapOf('rug_flag', why('chain_never_scored', { chain }));
  }
  const scored = both({ window, model });
  if (!(scored instanceof Read)) return gapOf('rug_flag', scored.why);
  const own = scored.value.window.flags.filter(
    (one) => one.chain === chain && [one.address, one.token].includes(address),
  );
  if (own.length > 0)
    return gather('rug_flag', scored, (one) => rugFlagValues(own, one.model), asked);
  // That it is not flagged needs every launch of the window to have been watched and scored.
  const watched = await readWindow(ports);
  return gather('rug_flag', watched, (): EvidenceValues => ({ flagged: false }), asked);
}

function rugFlagValues(
  flags: readonly LaunchFlag[],
  { version, model }: PublishedModel,
): EvidenceValues {
  const { level } = model.card;
  const top = flags.reduce((best, one) => (one.score > best.score ? one : best));
  return {
    flagged: true,
    in_force: top.model_version === version,
    score: decimalText(top.score),
    level: level === null ? null : decimalText(level.score_from),
    model_version: top.model_version,
    token: top.token,
    launched_at: formatIsoTime(top.launched_at),
    established: top.is_listed_token,
    flags: flags.length,
  };
}
