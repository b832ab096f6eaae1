import type { Timings } from '@rookery/protocol';
import type { Logger } from '@rookery/service';
import type { Principal } from '../auth/principal.ts';
import type { Live } from '../live.ts';
import type { Metrics } from '../status/metrics.ts';
import type { AccessRules, RouteAccess } from './access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route asks of a request; a route that does not say asks for a page's or program's credential. */
    access?: RouteAccess;
  }
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** What the routes work with. */
export interface HttpContext {
  rules: AccessRules;
  /** Null while the gateway is starting. */
  live: () => Live | null;
  metrics: Metrics;
  timings: Timings;
  log: Logger;
  /** Folder of the built web client. */
  webRoot: string;
}
