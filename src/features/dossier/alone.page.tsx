// The pages of one part of a dossier, and of what is no address.

import { type PageFacts, page, Search } from '../../pages/layout.tsx';
import { EntityPart } from './entity.page.tsx';
import { Evidence } from './evidence.page.tsx';
import { SubjectActions, SubjectHead, UnreadNotice } from './head.page.tsx';
import { Bridges, Exchanges, Launches, Lists } from './lists.page.tsx';
import type { PartFacts } from './section.page.tsx';
import type { DossierHead, DossierPages, FindingsRange, PartName, PartReaders } from './shapes.ts';

/** @internal The page of one part. */
export function partPage(facts: PageFacts): DossierPages['part'] {
  return async (head, name, readers, shown) => {
    const { subject } = head;
    const part = await drawPart(head, name, readers, shown);
    return page({
      ...facts,
      title: `Dossier of ${subject}`,
      current: '/address',
      children: (
        <>
          <SubjectHead head={head} />
          <SubjectActions head={head} />
          <p>
            <a href={`/address/${encodeURIComponent(subject)}`}>The whole dossier</a>
          </p>
          <UnreadNotice head={head} />
          {part}
        </>
      ),
    });
  };
}

async function drawPart(
  { subject, base, now, kind }: DossierHead,
  name: PartName,
  readers: PartReaders,
  shown: FindingsRange,
) {
  const facts: PartFacts = { subject, base, now, alone: true };
  switch (name) {
    case 'lists':
      return <Lists part={await readers.lists()} facts={facts} />;
    case 'evidence':
      return <Evidence part={await readers.evidence()} facts={facts} shown={shown} />;
    case 'entity':
      return <EntityPart part={await readers.entity()} facts={facts} />;
    case 'exchanges':
      return <Exchanges part={await readers.exchanges()} facts={facts} />;
    case 'bridges':
      return <Bridges part={await readers.bridges()} facts={facts} kind={kind} />;
    case 'launches':
      return <Launches part={await readers.launches()} facts={facts} />;
  }
}

/** @internal The page of what is no address. */
export function notFoundPage(facts: PageFacts): DossierPages['notFound'] {
  return (sought, problem) =>
    page({
      ...facts,
      title: 'Search',
      current: '/search',
      children: (
        <>
          <h1>No such address</h1>
          <p class="lead" role="alert">
            {problem}
          </p>
          <Search value={sought} />
          <p class="quiet">Nothing was looked up, so this says nothing about anybody.</p>
        </>
      ),
    });
}
