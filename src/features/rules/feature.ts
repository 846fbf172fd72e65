// Rules that a user writes about calls: parsed here, evaluated by whoever wrote them.

import { feature, servePage, serveRoute } from '../../compose/feature.ts';
import {
  edgeRules,
  edgeRulesHandler,
  rulesPage,
  rulesPageHandler,
  rulesScript,
  rulesScriptHandler,
} from './rules.route.tsx';

export const rulesFeature = feature({
  name: 'rules',
  heading: 'Rules',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [serveRoute(edgeRules, (_given: unknown) => edgeRulesHandler())],
  pages: [
    servePage(rulesPage, 'Rules', rulesPageHandler),
    servePage(rulesScript, null, (_given: unknown) => rulesScriptHandler()),
  ],
});
