import type { Reader, ReadModel } from '@rookery/read-model';

/** The service's read model; its queries are SQL of their own. */
export type Model = ReadModel<unknown>;
/** A read transaction of it. */
export type Db = Reader<unknown>;
