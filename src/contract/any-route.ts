// Answers one question: which kinds of route are there, for those who serve or document
// all of them.

import type { AnyEvidenceRoute, AnyPlainRoute } from './route.ts';
import type { AnyStreamRoute } from './stream.ts';

/** Any declared route. */
export type AnyRoute = AnyEvidenceRoute | AnyPlainRoute | AnyStreamRoute;
