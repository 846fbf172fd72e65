// Answers GET /api/v1/token/{address}/creator: who made a token, and what became of what they made.
// The creator is a fact of the chain; beside it stands the record that is held, or why none is.

import type { z } from 'zod';
import { describeMisform, parseAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { badInput } from '../../contract/refusals.ts';
import type { Asked, Handler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { present } from '../../evidence/measure.ts';
import { map, Read, type Silent, seen } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import { DEPLOYER_CHAIN, type DeployerRecords } from '../../ports/launches/deployer-records.ts';
import type { WalletLaunches, WalletRecord } from '../../ports/launches/wallet-launches.ts';
import { launchAnswer } from '../tables/launches.ts';
import { chainNotServed, noLaunchFound } from './absent.ts';
import { recordShown } from './record-shown.ts';
import { tokenCreator } from './token-creator.contract.ts';

type Data = z.input<typeof tokenCreator.data>;

/** The ports of the route. */
export type CreatorPorts = {
  readonly chainFacts: ChainFacts;
  readonly deployerRecords: Pick<DeployerRecords, 'recordOf'>;
  readonly walletLaunches: WalletLaunches;
};

const CAVEAT =
  'The creator is whom the chain credits with the contract, or the wallet that launched the ' +
  'mint; who controls it today may be another. A creator without a record has not been cleared.';

/** The handler of a token's creator. */
export function tokenCreatorHandler(ports: CreatorPorts): Handler<typeof tokenCreator> {
  return async ({ params, query }, asked) => {
    const parsed = parseAddress(params.address);
    if (parsed === null) {
      const misform = describeMisform(params.address);
      return badInput([why(misform === null ? 'form_not_recognised' : misform).reason]);
    }
    const { kind, address } = parsed;
    const { chain = kind === 'solana' ? 'solana' : DEPLOYER_CHAIN } = query;
    if (kind === 'solana' && chain === 'solana') return minted(ports, address);
    if (kind !== 'evm' || chain === 'solana') {
      return badInput([`address: not an address of ${chain}; nothing was checked`]);
    }
    return contractMade(ports, { chain, address, asked });
  };
}

/** A mint whose launch is on record. */
async function minted({ walletLaunches }: CreatorPorts, address: string) {
  const look = await walletLaunches.launchOf(address);
  if (!look.checked) return tokenCreator.absent.not_deployed({ subject: address, silent: look });
  const { corpus, launch } = look.value;
  if (launch === null) {
    const reason = why('mint_not_held', { launches: corpus.settled_launches.toLocaleString('en') });
    const consulted = [look] as const;
    return tokenCreator.absent.insufficient_evidence({ subject: address, why: reason, consulted });
  }
  const creator = launch.deployer;
  const record = await walletLaunches.of(creator);
  const data: Data = {
    address,
    chain: 'solana',
    creator,
    factory: null,
    creation_tx: launch.signature,
    creation_block: null,
    code_size: null,
    record: null,
    launches: record.checked ? launchesOf(creator, record.value) : null,
    record_checked: false,
    corpus_checked: claim(record, isWhole, isNot),
    reason: record.checked ? whyNoLaunches(record.value) : record.why.reason,
    caveat: CAVEAT,
  };
  return tokenCreator.ok({ subject: address, data, rests: [look] });
}

function launchesOf(deployer: string, { settled, died }: WalletRecord): Data['launches'] {
  if (settled === 0) return null;
  const count = { deployer, launches_settled: settled, died };
  return { answer: launchAnswer(count), launches_settled: settled, died };
}

function whyNoLaunches({ settled, waiting }: WalletRecord): string | null {
  return settled > 0 ? null : why('creator_unsettled', { waiting: String(waiting.length) }).reason;
}

const isWhole = (): true => true;
const isNot = (): false => false;

type Token = { readonly chain: EvmChainName; readonly address: string; readonly asked: Asked };

/** A contract of an EVM chain. */
async function contractMade(ports: CreatorPorts, { chain, address, asked }: Token) {
  const wanted = ['code', 'creation'] as const;
  const { code, creation } = await ports.chainFacts.of(chain, address, wanted, asked.signal);
  const found = seen(map(creation, (one) => [one]));
  if (found === null) {
    // A contract that destroyed itself has no code either, and an explorer still tells its maker.
    const unknown = !(creation instanceof Read) && creation.why.code === 'creation_not_found';
    if (unknown && code.checked && code.value.size === 0) {
      const reason = why('account_without_code');
      const consulted = [code] as const;
      return tokenCreator.absent.insufficient_evidence({
        subject: address,
        why: reason,
        consulted,
      });
    }
    return tokenCreator.absent.not_deployed({ subject: address, silent: unreadOf(creation) });
  }
  const [{ creator, factory, tx, block }] = found;
  const record = chain === DEPLOYER_CHAIN ? await ports.deployerRecords.recordOf(creator) : null;
  const [first, ...more] = present([
    creation instanceof Read ? creation : null,
    record?.checked === true ? record : null,
  ]);
  // A creation that is made up shows nothing by itself.
  if (first === undefined) {
    const silent = record === null || record.checked ? unreadOf(creation) : record;
    return tokenCreator.absent.not_deployed({ subject: address, silent });
  }
  const held = record?.checked === true && record.value.direct_creations > 0 ? record : null;
  const data: Data = {
    address,
    chain,
    creator,
    factory,
    creation_tx: tx,
    creation_block: block,
    code_size: code.checked ? code.value.size : null,
    record: held === null ? null : recordShown(held),
    launches: null,
    record_checked: record === null ? false : claim(record, isWhole, isNot),
    corpus_checked: false,
    reason: sentences(held === null ? reasonOf(chain, record) : null, whyUntold(code)),
    caveat: CAVEAT,
  };
  return tokenCreator.ok({ subject: address, data, rests: [first, ...more] });
}

/** Why the size of its code is not told, where it is not. */
function whyUntold(code: { readonly checked: boolean; readonly why?: Why }): string | null {
  return code.why === undefined ? null : code.why.reason;
}

function sentences(...told: readonly (string | null)[]): string | null {
  const said = present(told);
  return said.length === 0 ? null : said.join(' ');
}

type RecordReading = Awaited<ReturnType<DeployerRecords['recordOf']>>;

function reasonOf(chain: EvmChainName, record: RecordReading | null): string {
  if (record === null) return chainNotServed(chain).reason;
  return record.checked ? noLaunchFound(record.value).reason : record.why.reason;
}

function unreadOf<P extends string>(reading: Read<unknown, P> | Silent<P>): Silent<P> {
  if (reading instanceof Read) throw new TypeError('creator: a creation that was read is shown');
  return reading;
}
