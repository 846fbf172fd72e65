// An address or a transaction in full, with what copies it and the explorers that show it. A link
// to an explorer is only a link: nothing is asked of it before somebody follows it.

import { createContext, Fragment } from 'preact';
import { useContext } from 'preact/hooks';
import { parseAddress } from '../chain/address.ts';
import { CHAIN_NAMES, CHAINS } from '../chain/chain.ts';
import { present } from '../evidence/measure.ts';

/** Templates of links by `chain.address` and `chain.tx`; `{}` is the place of what is linked. */
export type ExplorerPages = ReadonlyMap<string, string>;

/** The explorers that the pages of this service link. */
export const Explorers = createContext<ExplorerPages>(new Map());

const PLACE = '{}';

/** The chain, or the chains, on which something is told of; `null`: nobody says. */
export type OnChain = string | readonly string[] | null;

type LinkProps = { of: string; chain: OnChain; what: 'address' | 'tx' };

/** Links to the explorers of the chains that are told, or that its form leaves; else nothing. */
function ExplorerLink({ of, chain, what }: LinkProps) {
  const explorers = useContext(Explorers);
  const chains = chain === null ? onlyChainOf(of, what) : [chain].flat();
  const templates = present(chains.map((one) => explorers.get(`${one}.${what}`)));
  return (
    <>
      {templates.map((template) => {
        const href = template.replace(PLACE, () => encodeURIComponent(of));
        return (
          <Fragment key={href}>
            {' '}
            <a href={href} rel="noreferrer noopener external">
              {new URL(href).host}
            </a>
          </Fragment>
        );
      })}
    </>
  );
}

/** The one chain on which an address of its form can be; none where there are several. */
function onlyChainOf(of: string, what: LinkProps['what']): readonly string[] {
  const kind = what === 'address' ? parseAddress(of)?.kind : undefined;
  const chains = CHAIN_NAMES.filter((chain) => CHAINS[chain].kind === kind);
  return chains.length === 1 ? chains : [];
}

/** Links to the explorers of every chain on which an address of this kind can be. */
export function ExplorerLinks({ of, kind }: { of: string; kind: string }) {
  const explorers = useContext(Explorers);
  const chains = CHAIN_NAMES.filter(
    (chain) => CHAINS[chain].kind === kind && explorers.has(`${chain}.address`),
  );
  if (chains.length === 0) return null;
  return (
    <p class="quiet explorers">
      At explorers of others:
      {chains.map((chain) => (
        <ExplorerLink key={chain} of={of} chain={chain} what="address" />
      ))}
    </p>
  );
}

/** A text that is copied by a button, where scripts run; it can always be selected. */
export function Copy({ of }: { of: string }) {
  return (
    <button class="copy plain" type="button" data-copy={of} hidden>
      Copy
    </button>
  );
}

/** A text in full within a sentence, with what copies it. */
export function Whole({ of, chain, what }: LinkProps) {
  return (
    <>
      <code>{of}</code> <Copy of={of} />
      <ExplorerLink of={of} chain={chain} what={what} />
    </>
  );
}

/** A text in full, on demand. */
export function InFull({ of, chain, what }: LinkProps) {
  return (
    <details class="full">
      <summary title="In full">
        <span class="hidden">In full</span>
      </summary>
      <code>{of}</code>
      <ExplorerLink of={of} chain={chain} what={what} />
    </details>
  );
}
