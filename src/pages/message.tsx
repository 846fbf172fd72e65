// Answers one question: how does a page say one thing: what was not done, or not read, and why?

import { type PageFacts, page } from './layout.tsx';

/** What is said, where a reader goes on, and the page of the navigation that it is under. */
export type Message = {
  readonly title: string;
  readonly why: string;
  readonly current: string;
  readonly back: { readonly path: string; readonly text: string };
};

/** The page of a message. */
export function messagePage(facts: PageFacts, { title, why, current, back }: Message): string {
  return page({
    ...facts,
    title,
    current,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">{why}</p>
        <p>
          <a class="button" href={back.path}>
            {back.text}
          </a>
        </p>
      </>
    ),
  });
}
