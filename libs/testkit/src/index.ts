export { bundleFolder, checkout, ensureBundles } from './bundles.ts';
export { checkHouse, type HouseHistory } from './check-house.ts';
export { commitHeader, commitHeaders } from './commit-headers.ts';
export { commitOf } from './commits.ts';
export { connectAs, connectAsStranger, type NatsConnection, refusals } from './connect-as.ts';
export {
  answerOf,
  createThread,
  itemOfEvent,
  type Settled,
  settledOf,
  startTurn,
  submissionFact,
  type TestThread,
  type TestTurn,
  waitEvent,
  waitSettled,
} from './conversation.ts';
export { endWithParent } from './end-with-parent.ts';
export { eventually, sleep } from './eventually.ts';
export { type FaultHouse, faultRow, startFaultHouse } from './fault-row.ts';
export { type FollowingClient, type FollowingOptions, followEvents } from './following-client.ts';
export type { ClientHistory } from './history/check-clients.ts';
export { type CheckedHistory, checkHistory, type DigestPair, type Violation } from './history/checker.ts';
export { commitsOf, type ExpectedEvent, eventText, expectedEvents, type HistoryCommit } from './history/fold.ts';
export { consumeAll, type RawMessage, readStream } from './history/read-stream.ts';
export { type Fact, History, type Operation } from './history/recorder.ts';
export { type NatsOptions, startNats, type TestNats } from './nats.ts';
export { startNatsCluster, type TestCluster } from './nats-cluster.ts';
export { readModelDigests } from './read-model-digests.ts';
export {
  configureModel,
  type RookeryOptions,
  serviceNames,
  startRookery,
  TEST_MODEL,
  type TestRookery,
  type TestServiceName,
} from './rookery.ts';
export { type ClientOptions, ConnectionLost, connectClient, type RpcClient, RpcError } from './rpc-client.ts';
export { encodeStored, type SampleOptions, sampleConversation } from './sample-conversation.ts';
export {
  type ModelRequest,
  type ModelScript,
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from './scripted-model.ts';
export type { Directive, DirectiveCall, ModelMessage } from './scripted-model-directive.ts';
export type { ModelStep, ModelToolCall } from './scripted-model-steps.ts';
export { chooseSeed, type SeededRandom, seededRandom } from './seeded-random.ts';
export { ServiceProcess, type ServiceProcessOptions } from './service-processes.ts';
export { type Delivery, type TcpProxy, tcpProxy, type Verdict } from './tcp-proxy.ts';
export { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';
export { testTimings } from './test-timings.ts';
