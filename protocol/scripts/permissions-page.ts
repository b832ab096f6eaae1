import {
  ACCOUNT,
  allowResponses,
  permissions,
  SYSTEM_ACCOUNT,
  SYSTEM_USER,
  type UserPermissions,
} from '../src/index.ts';
import { GENERATED_PAGE } from './markdown.ts';

const list = (title: string, subjects: readonly string[]): string[] =>
  subjects.length === 0 ? [] : [`${title}:`, '', '```', ...subjects, '```', ''];

const section = ({ user, about, publish, subscribe }: UserPermissions): string[] => [
  `## ${user}`,
  '',
  `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
  '',
  ...list('May publish to', publish.allow),
  ...list('Never to', publish.deny),
  ...list('May subscribe to', subscribe.allow),
  ...list('Never to', subscribe.deny),
];

/** docs/permissions.md: who may publish and subscribe to what. */
export function permissionsPage(): string {
  const lines = [
    GENERATED_PAGE,
    '',
    '# Who may do what in NATS',
    '',
    `Users of the account ${ACCOUNT}, each with an nkey of its own. What is not listed is denied. A responder may answer each request`,
    `${allowResponses.max === -1 ? 'any number of times' : `${allowResponses.max} times`} for ${allowResponses.expires}. The supervisor`,
    `also has the user \`${SYSTEM_USER}\` of the account ${SYSTEM_ACCOUNT}, by which it asks the server about itself.`,
    '',
    ...permissions.flatMap(section),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}
