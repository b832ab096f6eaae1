export { answerBody, answerIdempotencyKey, type ChannelAnswer } from './channel/answer.ts';
export {
  decideFinishDelivery,
  decideRefusedDelivery,
  type FinishDelivery,
  type OutboxStatus,
} from './channel/decide-finish.ts';
export {
  type DeliveryDecision,
  type DeliveryView,
  decideReceiveDelivery,
  deliveryBodySha256,
  type ReceiveDelivery,
} from './channel/decide-receive.ts';
export {
  DEFAULT_CHAT,
  type DeliveryIds,
  deliveryIdsOf,
  webhookThreadRequestId,
  webhookThreadTitle,
  webhookTurnRequestId,
} from './channel/delivery-ids.ts';
export {
  judgePost,
  outboxBackoffMs,
  type PostOutcome,
  type PostVerdict,
  retryAfterMs,
} from './channel/outbox-policy.ts';
export { type Draft, draft } from './draft.ts';
export {
  type CorrectMemory,
  type CreateMemory,
  decideCorrectMemory,
  decideCreateMemory,
  type MemoryDecision,
  type MemorySource,
  memoryParamsSha256,
} from './memory/decide.ts';
export { memoryPreview } from './memory/preview.ts';
export { evolveMemory, type MemoryReceipt, type MemoryState, noMemory } from './memory/state.ts';
export { channelsProjection } from './projections/channels.ts';
export {
  type BranchRow,
  type ContextRevisionRow,
  type ConversationTables,
  type FileChangeRow,
  type ItemRow,
  itemOf,
  type LongTextColumns,
  longTextOf,
  type ModelCallRow,
  type ModelUsageRow,
  type PendingSteerRow,
  type ProcessSessionRow,
  type RunConfigRow,
  type RunRow,
  type StreamChunkRow,
  type ThreadRow,
  type TurnRow,
  threadOf,
  turnOf,
} from './projections/conversation/rows.ts';
export { conversationProjection, projectConversation } from './projections/conversation.ts';
export { memoryProjection } from './projections/memory.ts';
export { memorySourcesProjection } from './projections/memory-sources.ts';
export {
  defineProjection,
  type Projection,
  type ProjectionDefinition,
  type SqlRow,
  type SqlValue,
  type Write,
} from './projections/projection.ts';
export { isRefusal, type Refusal, refuse } from './refusal.ts';
export { type ContextChoice, chooseContext, type HistoryTurn, itemTokens, MEASUREMENT } from './run/context.ts';
export { nextTools, type PlannedCall, parseCall } from './run/gate.ts';
export {
  type LoopContext,
  type LoopEffect,
  type LoopInput,
  type LoopState,
  MAX_DELTA_CHARS,
  newLoop,
  type StepResult,
  step,
} from './run/loop.ts';
export { type Outcome, type SettleContext, settleRun } from './run/settle.ts';
export { evolveRun, foldRun, type RunState, unclaimedRun } from './run/state.ts';
export { type ModelMessage, type ToolCallMessage, toMessages } from './run/transcript.ts';
export {
  byteLength,
  type CreateThread,
  contentRefusal,
  decideArchive,
  decideCreate,
  decideRename,
  decideSubmit,
  decideUnarchive,
  type SubmitTurn,
  type ThreadDecision,
} from './thread/decide.ts';
export type { AcceptedCommand, KnownSubmission, ThreadState } from './thread/state.ts';
