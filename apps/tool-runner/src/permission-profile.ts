import { verifyAuthorization } from '@rookery/bus';
import type { Authorization, ConfigValue } from '@rookery/protocol';

/** The request that a tool call belongs to. */
export interface AuthorizedRequest {
  readonly world: string;
  readonly agentId: string;
  readonly threadId: string;
  readonly clientRequestId: string;
}

/**
 * The permission profile of a tool call: the one that an edge of this agent signed for this very request, else the
 * default of the configuration. What the agent service says about it does not count.
 */
export function profileOf(
  request: AuthorizedRequest,
  authorization: Authorization | undefined,
  edges: ConfigValue<'edges'>,
  permissions: ConfigValue<'permissions'>,
): string {
  const keys = Object.values(edges.edges)
    .filter((edge) => edge.agentId === request.agentId && edge.world === request.world)
    .map((edge) => edge.publicKey);
  const isSigned =
    authorization !== undefined &&
    authorization.threadId === request.threadId &&
    authorization.clientRequestId === request.clientRequestId &&
    verifyAuthorization(authorization, keys);
  return isSigned ? authorization.profileId : permissions.defaultProfile;
}

/** The profiles that this runner can enforce; any other is refused rather than guessed. */
const KNOWN_PROFILES: ReadonlySet<string> = new Set(['danger-full-access']);

/** Tells whether a call under a profile may run at all. */
export function allows(profileId: string): boolean {
  return KNOWN_PROFILES.has(profileId);
}
