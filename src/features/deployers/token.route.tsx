import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { badAddress, badField } from '../../contract/refusals.ts';
import { html } from '../../contract/reply.ts';
import {
  type Caller,
  callerName,
  evidenceRoute,
  type Handler,
  plainRoute,
  type RequestContext,
} from '../../contract/route.ts';
import { addressText, checkedFlag, prose, rowFact, words } from '../../contract/wire.ts';
import { claim } from '../../evidence/claim.ts';
import { present } from '../../evidence/measure.ts';
import { map, Read, rowsSeen, type Silent } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Address, ageText, countWords, FactList, Moment, Tx } from '../../pages/words.tsx';
import type { ChainFacts } from '../../ports/accounts.ts';
import {
  DEPLOYER_CHAIN,
  type DeployerRecords,
  type WalletLaunches,
  type WalletRecord,
} from '../../ports/deployers.ts';
import { launchAnswer } from '../tables/launches.ts';
import { launchesOfWallet } from '../tables/shapes.ts';
import {
  type DeployerPorts,
  deployerRecordData,
  Record,
  type SearchEnd,
} from './deployer-record.route.tsx';
import { chainNotServed, recordView, wholeRecord, whyNoRecord } from './record.ts';

const LAUNCHES = { restsOn: ['wallet_launches'] } as const;

const launches = launchesOfWallet(LAUNCHES);

export const tokenCreator = evidenceRoute({
  name: 'token_creator',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/token/{address}/creator',
  summary: 'Who made a token, and what became of the tokens that they made.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({
    chain: z
      .enum(['ethereum', 'arbitrum', 'base', 'bsc', 'polygon', 'hyperevm', 'solana'])
      .optional()
      .meta({ description: 'Left out: `solana` for a Solana address, else `ethereum`.' }),
  }),
  data: z.strictObject({
    address: words(),
    chain: words(),
    /** The signer of the creation. */
    creator: words(),
    factory: words().nullable(),
    creation_tx: words().nullable(),
    creation_block: z.int().positive().nullable(),
    code_size: rowFact(z.int().nonnegative().nullable(), { restsOn: ['chain_facts'] }),
    record: deployerRecordData.nullable().describe('Of an Ethereum deployer, where one is held.'),
    launches: launches.nullable().describe('Of a Solana wallet, over its settled launches.'),
    record_checked: checkedFlag({ restsOn: ['deployer_records'] }),
    corpus_checked: checkedFlag(LAUNCHES),
    reason: prose()
      .nullable()
      .describe('Why no record, or none of a whole walk, stands beside the creator.'),
    caveat: prose().min(1),
  }),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'token_creator',
    description:
      'Who made a token of an EVM chain or of Solana, with the record of that creator where one ' +
      'is held. A creator without a record has not been cleared.',
  },
});

export const tokenPage = plainRoute({
  name: 'token_page',
  surface: 'web',
  method: 'GET',
  path: '/token/{chain}/{address}',
  summary: 'Who made a token, and what became of the tokens that they made, for people.',
  access: 'visitor',
  params: z.strictObject({
    chain: tokenCreator.query.shape.chain.unwrap(),
    address: addressText,
  }),
  responses: { 200: html(), 503: html() },
});

/** The creator of a token as its route answers. */
export type CreatorView = z.output<typeof tokenCreator.data>;

/**
 * The answer for a token. `unasked`: the sources were not read, since only signed-in callers may
 * have them read.
 */
export type TokenView =
  | {
      readonly kind: 'creator';
      readonly creator: CreatorView;
      readonly sources: readonly { readonly name: string; readonly as_of: number }[];
    }
  | { readonly kind: 'absent'; readonly search: SearchEnd; readonly reason: string }
  | { readonly kind: 'unasked'; readonly signIn: boolean; readonly reason: string };

// The creator is a fact of the chain; beside it stands the record that is held, or why none is.

type Data = z.input<typeof tokenCreator.data>;

export type CreatorPorts = DeployerPorts & {
  readonly chainFacts: ChainFacts;
  readonly walletLaunches: WalletLaunches;
};

const CAVEAT =
  'The creator is whom the chain credits with the contract, or the wallet that launched the ' +
  'mint; who controls it today may be another. A creator without a record has not been cleared.';

/** @internal The handler of a token's creator. */
export function tokenCreatorHandler(ports: CreatorPorts): Handler<typeof tokenCreator> {
  return async ({ params, query }, asked, caller) => {
    const parsed = parseAddress(params.address);
    if (parsed === null) return badAddress(params.address);
    const { kind, address } = parsed;
    const { chain = kind === 'solana' ? 'solana' : DEPLOYER_CHAIN } = query;
    if (kind === 'solana' && chain === 'solana') return answerForMint(ports, address);
    if (kind !== 'evm' || chain === 'solana') {
      return badField('address', `not an address of ${chain}; nothing was checked`);
    }
    return contractMade(ports, { chain, address, asked, caller });
  };
}

/** A mint whose launch is on record. */
async function answerForMint({ walletLaunches }: CreatorPorts, address: string) {
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

type Token = {
  readonly chain: EvmChainName;
  readonly address: string;
  readonly asked: RequestContext;
  readonly caller: Caller;
};

async function contractMade(ports: CreatorPorts, { chain, address, asked, caller }: Token) {
  const wanted = ['code', 'creation'] as const;
  const { code, creation } = await ports.chainFacts.of(chain, address, wanted, asked.signal);
  const found = rowsSeen(map(creation, (one) => [one]));
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
  const [{ creator, relay, factory, tx, block }] = found;
  if (creator === null) {
    const subject = address;
    if (!(creation instanceof Read)) {
      return tokenCreator.absent.not_deployed({ subject, silent: unreadOf(creation) });
    }
    const reason = why('creation_relayed', { tx, relay: String(relay) });
    const consulted = [creation] as const;
    return tokenCreator.absent.insufficient_evidence({ subject, why: reason, consulted });
  }
  const isWalked = chain === DEPLOYER_CHAIN;
  const record = isWalked
    ? await ports.deployerRecords.recordOf(creator, callerName(caller))
    : null;
  const [first, ...more] = present([
    creation instanceof Read ? creation : null,
    record?.checked === true ? record : null,
  ]);
  // A creation that is made up shows nothing by itself.
  if (first === undefined) {
    const silent = record === null || record.checked ? unreadOf(creation) : record;
    return tokenCreator.absent.not_deployed({ subject: address, silent });
  }
  const held = record?.checked === true && whyNoRecord(record.value) === null ? record : null;
  const isOpen = !(creation instanceof Read) && creation.why.code === 'creation_relay_unread';
  const reasons = present([
    whyUnheld(chain, record),
    code instanceof Read ? null : code.why.reason,
    isOpen ? creation.why.reason : null,
  ]);
  const data: Data = {
    address,
    chain,
    creator,
    factory,
    creation_tx: tx,
    creation_block: block,
    code_size: code.checked ? code.value.size : null,
    record: held === null ? null : recordView(held, asked.now()),
    launches: null,
    record_checked: record === null ? false : claim(wholeRecord(record), isWhole, isNot),
    corpus_checked: false,
    reason: reasons.length === 0 ? null : reasons.join(' '),
    caveat: CAVEAT,
  };
  return tokenCreator.ok({ subject: address, data, rests: [first, ...more] });
}

type RecordReading = Awaited<ReturnType<DeployerRecords['recordOf']>>;

/** Why no record stands beside the creator, or why the one that stands was not walked whole. */
function whyUnheld(chain: EvmChainName, record: RecordReading | null): string | null {
  if (record === null) return chainNotServed(chain).reason;
  const none = record.checked ? whyNoRecord(record.value) : null;
  if (none !== null) return none.reason;
  const whole = wholeRecord(record);
  return whole instanceof Read ? null : whole.why.reason;
}

function unreadOf<P extends string>(reading: Read<unknown, P> | Silent<P>): Silent<P> {
  if (reading instanceof Read) throw new TypeError('creator: a creation that was read is shown');
  return reading;
}

type TokenQuestion = { readonly chain: string; readonly address: string };

/** @internal The page of a token. `now` is Unix seconds. */
export function tokenHtml(
  facts: PageFacts,
  { chain, address }: TokenQuestion,
  shown: TokenView,
  now: number,
): string {
  return page({
    ...facts,
    title: 'Token',
    current: `/token/${chain}/${address}`,
    children: (
      <>
        <header class="dossier">
          <p class="eyebrow">Token on {chain}</p>
          <h1>
            <code>{address}</code>
          </h1>
        </header>
        {shown.kind === 'creator' ? (
          <Creator creator={shown.creator} sources={shown.sources} now={now} />
        ) : (
          <Untold shown={shown} />
        )}
        <p class="quiet">
          What else is on record of this address: <a href={`/address/${address}`}>its dossier</a>.
        </p>
      </>
    ),
  });
}

function Untold({ shown }: { shown: Exclude<TokenView, { kind: 'creator' }> }) {
  const isLooked = shown.kind === 'absent' && shown.search === 'none';
  return (
    <section class={isLooked ? 'nothing' : 'nothing unread'} aria-labelledby="absent">
      <h2 id="absent">{isLooked ? 'Nobody is named as its maker' : 'Nobody has looked'}</h2>
      <p>{shown.reason}</p>
      {shown.kind === 'unasked' && shown.signIn && (
        <p>
          <a class="button" href="/activate">
            Sign in
          </a>
        </p>
      )}
      <p class="quiet">
        {isLooked
          ? 'That is no statement about who made it.'
          : 'This says nothing about the token or its maker.'}
      </p>
    </section>
  );
}

type CreatorProps = {
  creator: CreatorView;
  sources: Extract<TokenView, { kind: 'creator' }>['sources'];
  now: number;
};

function Creator({ creator: shown, sources, now }: CreatorProps) {
  return (
    <section class="part" aria-labelledby="creator">
      <header>
        <h2 id="creator">Who made it</h2>
      </header>
      <p class="says">
        <Address of={shown.creator} />
      </p>
      <FactList rows={factRows(shown)} />
      <h2 class="section">What became of what they made</h2>
      <Made shown={shown} />
      <p class="caveat">{shown.caveat}</p>
      <footer>
        <dl class="rests" aria-label="What this rests on">
          {sources.map(({ name, as_of }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Moment at={as_of} /> <span class="quiet">({ageText(now - as_of)})</span>
              </dd>
            </div>
          ))}
        </dl>
      </footer>
    </section>
  );
}

/** The facts about its creation; one that it does not have is left out, an unread size is told. */
function factRows(shown: CreatorView): [string, ComponentChildren][] {
  const { factory, creation_tx: tx, creation_block: block, code_size: code, chain } = shown;
  const told: [string, ComponentChildren][] = [];
  if (factory !== null) told.push(['Through the factory', <Address key="by" of={factory} />]);
  if (tx !== null) told.push(['Transaction', <Tx key="tx" of={tx} chain={chain} />]);
  if (block !== null) told.push(['Block', block.toLocaleString('en')]);
  // A mint has no code of its own.
  if (code !== null) told.push(['Code', countWords(code, 'byte')]);
  else if (chain !== 'solana') told.push(['Code', 'not read']);
  return told;
}

function Made({ shown: { record, launches, creator, chain, reason } }: { shown: CreatorView }) {
  if (record !== null) {
    return (
      <>
        <Record record={record} />
        {reason !== null && <p class="quiet">{reason}</p>}
      </>
    );
  }
  if (launches !== null) {
    const { launches_settled: settled, died, answer } = launches;
    return (
      <>
        <p class="says">
          {answer === 'flagged'
            ? 'Every settled launch has died.'
            : 'At least one settled launch survived.'}
        </p>
        <p>
          {died} of {countWords(settled, 'settled launch', 'settled launches')} died, listed on the
          curve of their launchpad at most a day later:{' '}
          <a href={`/deployer/${chain}/${creator}`}>each of them</a>.
        </p>
      </>
    );
  }
  return (
    <div class="nothing unread">
      <p>{reason === null ? 'No record of its maker is held.' : reason}</p>
      <p class="quiet">A maker without a record has not been cleared.</p>
    </div>
  );
}
