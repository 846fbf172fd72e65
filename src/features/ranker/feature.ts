// The ranker of calls: trained on the record, published as an artefact, told by its hold-out.

import { nowS } from '../../compose/clock.ts';
import { type Base, feature, type OpenedRests, serveRoute } from '../../compose/feature.ts';
import { VERSION } from '../../compose/version.ts';
import { rankerIn, readRankerFile } from '../../sources/files/model-artefact.ts';
import { FileFault } from '../../sources/files/text-lines.ts';
import { calls } from '../calls/feature.ts';
import { type MlRankPorts, mlRank, mlRankHandler } from './ml-rank.route.ts';
import { type RankServices, rankEvaluate, rankPublish, rankTrain } from './rank.command.ts';
import { type ParseRanker, rankerTable } from './ranker.store.ts';

const RESTS = { calls } as const;

export const ranker = feature({
  name: 'ranker',
  heading: 'The ranker of calls',
  rests: RESTS,
  open: ({ config, database, context }: Base, rests: OpenedRests<typeof RESTS>) => {
    const published = rankerTable(database, context, parseRanker);
    return {
      ports: { publishedRankers: published },
      services: {
        rank: {
          emittedCalls: rests.calls.ports.emittedCalls,
          published,
          readFile: readRankerFile,
          codeVersion: VERSION,
          simulated: config.simulate,
          now: nowS,
        },
      } satisfies RankServices,
    };
  },
  ports: {
    publishedRankers: {
      tag: 'published_ranker',
      title: 'Ranker of calls',
      says: 'Which ranker of calls is in force',
      pages: false,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [serveRoute(mlRank, (given: MlRankPorts) => mlRankHandler(given))],
  commands: [rankTrain, rankEvaluate, rankPublish],
});

const parseRanker: ParseRanker = (text) => {
  try {
    return rankerIn(text);
  } catch (fault) {
    if (fault instanceof FileFault) return fault.message;
    throw fault;
  }
};
