export { type AppendOptions, type AppendRequest, type AppendResult, append, encodeCommit } from './append.ts';
export { externalizeBlobs, hasBlobs, inlineBlobs } from './blobs.ts';
export { type Decoded, decodeCommit, decodeTrusted, type RawMessage } from './decode.ts';
export { type Journal, type JournalOptions, type JournalPage, openJournal } from './journal.ts';
export { type Offer, type Offers, openOffers } from './offers.ts';
export { type Batch, type BatchQuery, getAt, getBatch, getLast, type StoredMessage } from './read.ts';
export { restoreStream, type SnapshotHead, snapshotStream } from './snapshot.ts';
export { type StreamFacts, startTail, type Tail, type TailMessage, type TailOptions } from './tail.ts';
export { upcast } from './upcast.ts';
