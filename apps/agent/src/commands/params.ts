import { AppError } from '@rookery/protocol';

interface Schema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
}

/** Checks a command's parameters; INVALID_PARAMS names the first key that does not fit. */
export function checkParams<T>(schema: Schema<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new AppError('INVALID_PARAMS', {
    details: { path: issue?.path.map(String).join('.') ?? '', issue: issue?.message ?? '' },
  });
}
