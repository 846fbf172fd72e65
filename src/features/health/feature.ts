import { feature, type Service, servePage, serveRoute } from '../../compose/feature.ts';
import { Refusal } from '../../contract/refusals.ts';
import {
  healthRoute as healthContract,
  healthHandler,
  statusHtml,
  statusPage,
} from './health.route.tsx';

type HealthPorts = { readonly service: Service };

export const health = feature({
  name: 'health',
  open: () => ({ ports: {}, services: {} }),
  optional: [
    {
      name: 'operator token',
      setting: 'EXHIBIT_ADMIN_TOKEN',
      isSet: ({ adminToken }) => adminToken !== null,
      without: '/metrics and the detail of /ready are on the operations port only',
    },
  ],
  ports: {},
  routes: [serveRoute(healthContract, ({ service }: HealthPorts) => healthHandler(service))],
  pages: [
    servePage(statusPage, 'Status', ({ service }: HealthPorts, facts) => {
      const ask = healthHandler(service);
      return async (input, asked, caller) => {
        const said = await ask(input, asked, caller);
        if (said instanceof Refusal) return said;
        const shown = healthContract.responses[200].parse(said.body);
        return statusPage.reply(200, statusHtml(facts, shown, service.sources, asked.now()));
      };
    }),
  ],
});
