import { AppError } from '@rookery/protocol';
import type { Principal } from '../auth/principal.ts';
import { hostOf } from './address.ts';

/**
 * What a route asks of a request, beside a known Host and no foreign Origin:
 * `public` nothing; `page` a session or the owner token; `program` the owner token; `hook` its own secret.
 */
export type RouteAccess = 'public' | 'page' | 'program' | 'hook';

export interface AccessFacts {
  host: string | undefined;
  origin: string | undefined;
  authorization: string | undefined;
  cookie: string | undefined;
  keyHeader: string | undefined;
  /** Sec-WebSocket-Protocol. */
  protocols: string | undefined;
  /** Query string without its `?`. */
  query: string;
}

export interface Verifier {
  verifyBearer(token: string): Principal | null;
  verifySession(cookies: readonly string[], key: string | null): Principal | null;
}

export interface AccessRules {
  hosts: ReadonlySet<string>;
  trustedProxy: boolean;
}

export type Access = { ok: true; principal: Principal | null } | { ok: false; status: number; error: AppError };

export const SESSION_COOKIE = 'rookery_session';
export const KEY_PROTOCOL = 'rookery.key.';
const MISDIRECTED = 421;

/** Names under which people and programs have put credentials into URLs. */
const CREDENTIAL_NAMES =
  /^(access_?token|api_?key|auth|authorization|bearer|code|key|secret|session|token|rookery_session)$/i;

const refuse = (status: number, code: 'UNAUTHORIZED' | 'FORBIDDEN', reason: string): Access => ({
  ok: false,
  status,
  error: new AppError(code, { details: { reason } }),
});

/** Values of the session cookie; there may be several, as cookies of all ports of a host come together. */
export function sessionCookies(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${SESSION_COOKIE}=`))
    .map((part) => part.slice(SESSION_COOKIE.length + 1))
    .filter((value) => value !== '');
}

/** The key that a page offers as a header or, for a WebSocket, as a subprotocol. */
export function sessionKeyOf(facts: Pick<AccessFacts, 'keyHeader' | 'protocols'>): string | null {
  if (facts.keyHeader) return facts.keyHeader;
  const offered = (facts.protocols ?? '').split(',').map((part) => part.trim());
  return offered.find((protocol) => protocol.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length) ?? null;
}

export function bearerOf(authorization: string | undefined): string | null {
  return /^Bearer +([\x21-\x7e]{1,1024})$/i.exec(authorization ?? '')?.[1] ?? null;
}

function hasCredentialInQuery(query: string, verifier: Verifier | null): boolean {
  if (query === '') return false;
  return [...new URLSearchParams(query)].some(
    ([name, value]) => CREDENTIAL_NAMES.test(name) || (value !== '' && Boolean(verifier?.verifyBearer(value))),
  );
}

function isOwnOrigin(origin: string, host: string, rules: AccessRules): boolean {
  const own = host.toLowerCase();
  const given = origin.toLowerCase();
  return given === `http://${own}` || (rules.trustedProxy && given === `https://${own}`);
}

/**
 * Decides whether a request may go on, before any of it is read and before an upgrade. `verifier` is null while the
 * gateway is starting; then only public routes pass.
 */
export function decideAccess(
  access: RouteAccess,
  facts: AccessFacts,
  rules: AccessRules,
  verifier: Verifier | null,
): Access {
  const host = facts.host === undefined ? null : hostOf(facts.host);
  if (facts.host === undefined || host === null || !rules.hosts.has(host))
    return refuse(MISDIRECTED, 'FORBIDDEN', 'host');
  if (facts.origin !== undefined && !isOwnOrigin(facts.origin, facts.host, rules))
    return refuse(403, 'FORBIDDEN', 'origin');
  if (hasCredentialInQuery(facts.query, verifier)) return refuse(401, 'UNAUTHORIZED', 'credential_in_url');
  if (access === 'public' || access === 'hook') return { ok: true, principal: null };
  if (verifier === null)
    return { ok: false, status: 503, error: new AppError('SERVICE_UNAVAILABLE', { details: { starting: true } }) };
  if (facts.authorization !== undefined) {
    const token = bearerOf(facts.authorization);
    const principal = token === null ? null : verifier.verifyBearer(token);
    return principal === null ? refuse(401, 'UNAUTHORIZED', 'token') : { ok: true, principal };
  }
  const cookies = sessionCookies(facts.cookie);
  if (access === 'program' || cookies.length === 0) return refuse(401, 'UNAUTHORIZED', 'no_credential');
  // Browsers send Origin with every POST and every upgrade; without it a cookie may come from anywhere.
  if (facts.origin === undefined) return refuse(403, 'FORBIDDEN', 'cookie_without_origin');
  const principal = verifier.verifySession(cookies, sessionKeyOf(facts));
  return principal === null ? refuse(401, 'UNAUTHORIZED', 'session') : { ok: true, principal };
}
