// Is what was read of an address all that there is, so that something may be denied on it?
// It stands outermost, around whatever holds or reads history, and lets nothing pass as whole whose
// chains are not held in full to a fresh tip, or of which counterparties were left out.

import { parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName, isEvmChain } from '../../chain/chain.ts';
import { map, mintAs, type Partly, Read, seen, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type CoverageRange,
  type CoveredNeighbourhood,
  type Gap,
  type HistoryTransfer,
  type Neighbourhood,
  type NeighbourhoodLimits,
  type RawHistory,
  type RawHistoryPort,
  signerOf,
  signingOf,
  type TransferHistory,
  type TransferHistoryPort,
  UNPRICED,
  type Worths,
} from '../../ports/history/transfer-history.ts';

import { type FreshTip, gapsIn, gapsText } from './coverage.ts';

const PORT = 'transfer_history';

/**
 * The same history, each reading of which is whole only where it is covered. `worths` prices what a
 * walk shows; without it nothing is priced.
 */
export function coveredHistory(
  raw: RawHistory,
  tip: FreshTip,
  worths: Worths = UNPRICED,
): TransferHistory {
  return {
    worths,
    chainsRead: () => raw.chainsRead().then((chains) => mintAs(PORT, chains)),
    neighbourhoods: async (addresses, limits) => {
      const chains = await chainsToCover(raw, limits);
      const readings = await raw.neighbourhoods(addresses, limits);
      const told = [...readings].map(([address, reading]) => {
        return [address, covered(address, reading, chains, limits, tip)] as const;
      });
      return new Map(told);
    },
  };
}

/** The chains asked, else all that are read; why they are not known, where they are not. */
async function chainsToCover(
  raw: RawHistory,
  { chains: asked }: NeighbourhoodLimits,
): Promise<readonly ChainName[] | Why> {
  if (asked !== undefined) return asked;
  const chains = await raw.chainsRead();
  return chains instanceof Read ? chains.value : chains.why;
}

function covered(
  address: string,
  reading: Partly<Neighbourhood, RawHistoryPort>,
  chains: readonly ChainName[] | Why,
  { degreeMax }: NeighbourhoodLimits,
  { tipMaxAgeS, now }: FreshTip,
): Partly<CoveredNeighbourhood, TransferHistoryPort> {
  if ('code' in chains) {
    // Without the chains nothing says what is missing, so nothing is whole.
    const told = map(reading, (known) => {
      return { ...known, gaps: NONE_TOLD, nft_gaps: NONE_TOLD, signs_within: NOWHERE };
    });
    return mintAs(PORT, weaken(told, chains));
  }
  const parsed = parseAddress(address);
  const own = chains.filter((chain) => parsed !== null && CHAINS[chain].kind === parsed.kind);
  if (chains.length === 0) return unread(PORT, why('no_history'));
  if (own.length === 0) {
    const kind = parsed === null ? 'no known form' : parsed.kind;
    return unread(PORT, why('not_walked_kind', { kind }));
  }
  const needs = { chains: own, now: now(), tipMaxAgeS };
  // Where rows were cut off, transactions that the address signed may be among them.
  const uncut = reading instanceof Read || reading.why.code !== 'row_cap';
  const told = map(reading, (known) => {
    const signs_within = uncut ? signedRanges(known) : NOWHERE;
    const { coverage } = known;
    const nft_gaps = gapsIn(coverage, { ...needs, chains: own.filter(isEvmChain) }, ['nft']);
    return signersTold({ ...known, gaps: gapsIn(coverage, needs), nft_gaps, signs_within });
  });
  const missing = seen(map(told, (known) => missingOf(known, degreeMax)));
  return mintAs(PORT, missing === null ? told : weaken(told, missing[0]));
}

const NONE_TOLD: readonly Gap[] = Object.freeze([]);

/** Why a neighbourhood is not all there is, if it is not: at most one reason. */
function missingOf(
  { address, degree, counterparties, gaps }: CoveredNeighbourhood,
  degreeMax: number,
): Why[] {
  if (gaps.length > 0) return [why('partial_history', { gaps: gapsText(address, gaps) })];
  if (degree <= degreeMax || counterparties.length >= degree) return [];
  return [why('high_degree', { degree: String(degree), limit: String(degreeMax) })];
}

const NOWHERE: readonly CoverageRange[] = Object.freeze([]);

/** Where an address's own transactions are all told: where its native history is, uncut. */
function signedRanges({
  degree,
  counterparties,
  coverage,
}: Neighbourhood): readonly CoverageRange[] {
  const shown = counterparties.every((one) => one.transfers.length === one.transfer_count);
  if (!shown || counterparties.length < degree) return NOWHERE;
  return coverage.filter(({ chain, kind }) => kind === 'native' && isEvmChain(chain));
}

/** Says of each transfer whose source names no signer whether its address signed it. */
function signersTold(known: CoveredNeighbourhood): CoveredNeighbourhood {
  const { address } = known;
  const isTold = (transfer: HistoryTransfer) => signerOf(transfer) !== null;
  if (known.counterparties.every(({ transfers }) => transfers.every(isTold))) return known;
  const isSigned = signingOf(known);
  const told = (transfer: HistoryTransfer): HistoryTransfer => {
    const signed = isTold(transfer) ? null : isSigned(transfer);
    if (signed === null) return transfer;
    return signed ? { ...transfer, initiator: address } : { ...transfer, unsigned_by: address };
  };
  const counterparties = known.counterparties.map((one) => {
    return { ...one, transfers: one.transfers.map(told) };
  });
  return { ...known, counterparties };
}
