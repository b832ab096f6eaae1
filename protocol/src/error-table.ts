export type Retry = 'never' | 'safe' | 'after-check';

/** How one error code shows on each wire, in the log, and to a person. */
export interface ErrorRow {
  /** JSON-RPC error code. */
  rpc: number;
  http: number;
  retry: Retry;
  log: 'debug' | 'info' | 'warn' | 'error';
  en: string;
  zh: string;
  /** The document's own reason on the wire, where it has one. */
  reason?: string;
}

const row = (
  rpc: number,
  http: number,
  retry: Retry,
  log: ErrorRow['log'],
  en: string,
  zh: string,
  reason?: string,
): ErrorRow => ({ rpc, http, retry, log, en, zh, ...(reason ? { reason } : {}) });

const REFUSED = -32030;

/** Every error code of the project. */
export const errorTable = {
  PARSE_ERROR: row(-32700, 400, 'never', 'info', 'The message is not JSON.', '消息不是有效的 JSON。'),
  INVALID_REQUEST: row(-32600, 400, 'never', 'info', 'The message is not a JSON-RPC 2.0 request.', '消息不是 JSON-RPC 2.0 请求。'),
  METHOD_NOT_FOUND: row(-32601, 404, 'never', 'info', 'There is no such method.', '没有这个方法。'),
  INVALID_PARAMS: row(-32602, 400, 'never', 'info', 'The parameters do not fit the method.', '参数不符合该方法的要求。'),
  INTERNAL: row(-32603, 500, 'after-check', 'error', 'Something went wrong inside Rookery; its log says what.', 'Rookery 内部出错，详情见日志。'),
  NOT_INITIALIZED: row(-32000, 409, 'never', 'info', 'Call initialize first.', '请先调用 initialize。'),
  PROTOCOL_UNSUPPORTED: row(-32001, 400, 'never', 'info', 'This protocol version is not served; use 12 or 13.', '不支持该协议版本，请使用 12 或 13。'),
  ALREADY_INITIALIZED: row(-32002, 409, 'never', 'info', 'This connection is initialized already.', '该连接已经初始化。'),
  UNAUTHORIZED: row(REFUSED, 401, 'never', 'info', 'Sign in first: run `npx rookery open`.', '请先登录：运行 npx rookery open。'),
  FORBIDDEN: row(REFUSED, 403, 'never', 'warn', 'This origin or host may not call Rookery.', '该来源或主机不允许访问 Rookery。'),
  RATE_LIMITED: row(REFUSED, 429, 'safe', 'warn', 'Too many attempts; wait a minute.', '尝试次数过多，请稍后再试。'),
  REQUEST_TOO_LARGE: row(REFUSED, 413, 'never', 'info', 'The request is larger than allowed.', '请求超过允许的大小。'),
  CONFIG_INVALID: row(REFUSED, 400, 'never', 'error', 'A setting has an invalid value.', '某项设置的值无效。'),
  CONFIG_CONFLICT: row(REFUSED, 409, 'safe', 'info', 'The settings changed meanwhile; try again.', '设置刚被修改，请重试。'),
  SERVICE_UNAVAILABLE: row(REFUSED, 503, 'safe', 'warn', 'A service does not answer; try again in a moment.', '服务暂时没有响应，请稍后重试。'),
  NOT_SUPERVISED: row(REFUSED, 409, 'never', 'info', 'No supervisor runs here; stop the services where they were started.', '此处没有守护进程，请在启动服务的地方停止它们。'),
  JOURNAL_CONFLICT: row(REFUSED, 409, 'safe', 'debug', 'Another writer came first; try again.', '其他写入者先完成，请重试。'),
  JOURNAL_AMBIGUOUS: row(REFUSED, 503, 'after-check', 'warn', 'The journal did not say whether it stored this; repeat it with the same request id.', '日志未确认是否已保存，请用同一请求编号重试。'),
  JOURNAL_UNAVAILABLE: row(REFUSED, 503, 'safe', 'warn', 'The journal cannot be reached; nothing was stored.', '无法访问日志，未保存任何内容。'),
  JOURNAL_REGRESSED: row(REFUSED, 503, 'never', 'error', 'The journal is shorter or other than before; restore a backup or accept the loss.', '日志比之前短或不同，请恢复备份或接受丢失。'),
  COMMIT_TOO_LARGE: row(REFUSED, 413, 'never', 'error', 'This is too much for one journal entry.', '单条日志记录过大。'),
  CONTENT_TOO_LARGE: row(REFUSED, 413, 'never', 'info', 'The message is larger than 256 KiB; put it into a file.', '消息超过 256 KiB，请改用文件。'),
  CONTENT_EMPTY: row(-32602, 400, 'never', 'info', 'The message is empty.', '消息为空。'),
  READMODEL_TOO_OLD: row(REFUSED, 503, 'never', 'error', 'The journal was written by a newer Rookery; update this one.', '日志由更新版本写入，请升级。'),
  REPLAY_TOO_FAR: row(REFUSED, 409, 'never', 'info', 'Too many events were missed; load the lists again.', '缺失事件过多，请重新加载列表。'),
  IDEMPOTENCY_CONFLICT: row(REFUSED, 409, 'never', 'info', 'This request id was used before with other parameters.', '该请求编号已用于不同的参数。'),
  THREAD_NOT_FOUND: row(REFUSED, 404, 'never', 'info', 'There is no such thread.', '没有这个对话。'),
  THREAD_ARCHIVED: row(REFUSED, 409, 'never', 'info', 'The thread is archived; unarchive it first.', '对话已归档，请先取消归档。', 'thread_archived'),
  THREAD_BUSY: row(REFUSED, 409, 'safe', 'info', 'The thread has work under way; stop it or wait.', '对话仍有任务在进行，请停止或等待。', 'thread_busy'),
  THREAD_DAMAGED: row(REFUSED, 409, 'never', 'warn', 'This thread has a damaged journal entry; run `rookery journal check`.', '该对话有损坏的日志记录，请运行 rookery journal check。'),
  BRANCH_NOT_FOUND: row(REFUSED, 404, 'never', 'info', 'The thread has no such branch.', '对话没有这个分支。'),
  RUN_NOT_FOUND: row(REFUSED, 404, 'never', 'info', 'There is no such run.', '没有这个运行。'),
  RUN_SETTLED: row(REFUSED, 409, 'never', 'info', 'The run has ended already.', '该运行已经结束。'),
  RUN_HOLDER_SILENT: row(REFUSED, 503, 'safe', 'warn', 'The process that holds this run does not answer; repeat it.', '持有该运行的进程没有响应，请重试。'),
  MODEL_NOT_CONFIGURED: row(REFUSED, 409, 'never', 'info', 'This model is not configured or not enabled.', '该模型未配置或未启用。', 'model_not_configured'),
  WORKSPACE_INVALID: row(-32602, 400, 'never', 'info', 'The workspace must be an existing absolute folder.', '工作区必须是已存在的绝对路径文件夹。'),
  PROVIDER_NOT_FOUND: row(REFUSED, 404, 'never', 'info', 'There is no such provider.', '没有这个模型服务商。'),
  PROVIDER_FAILED: row(-32010, 502, 'after-check', 'warn', 'The model provider failed.', '模型服务商请求失败。'),
  MEMORY_NOT_FOUND: row(-32020, 404, 'never', 'info', 'There is no such memory.', '没有这条记忆。', 'memory_not_found'),
  MEMORY_REVISION_CONFLICT: row(-32020, 409, 'never', 'info', 'The memory changed meanwhile; read it again.', '记忆已被修改，请重新读取。', 'memory_revision_conflict'),
  MEMORY_FORGOTTEN: row(-32020, 410, 'never', 'info', 'The memory was forgotten.', '该记忆已被遗忘。', 'memory_forgotten'),
  MEMORY_IDEMPOTENCY_CONFLICT: row(-32020, 409, 'never', 'info', 'This request id was used before with other parameters.', '该请求编号已用于不同的参数。', 'memory_idempotency_conflict'),
  MEMORY_SOURCE_UNAVAILABLE: row(-32020, 409, 'never', 'info', 'The cited item does not exist.', '引用的条目不存在。', 'memory_source_unavailable'),
  PROCESS_NOT_FOUND: row(REFUSED, 404, 'never', 'info', 'There is no such process.', '没有这个进程。', 'process_not_found'),
  INVALID_CURSOR: row(-32602, 400, 'never', 'info', 'The cursor is not one of this list.', '游标无效。', 'invalid_cursor'),
  TOOL_STALE: row(REFUSED, 409, 'never', 'info', 'The run is settled or held by another process.', '该运行已结束或由其他进程持有。'),
  TOOL_CONFLICT: row(REFUSED, 409, 'never', 'warn', 'This tool call was made before with other arguments.', '该工具调用曾以不同参数执行。'),
  TOOL_DENIED: row(REFUSED, 403, 'never', 'info', 'The permission profile does not allow this.', '权限配置不允许此操作。'),
  RUNNER_UNAVAILABLE: row(REFUSED, 503, 'safe', 'warn', 'The tool runner of this workspace does not answer.', '该工作区的工具运行器没有响应。'),
  CHANNEL_NOT_FOUND: row(REFUSED, 404, 'never', 'info', 'There is no such channel.', '没有这个通道。'),
  HOOK_REFUSED: row(REFUSED, 401, 'never', 'info', 'The hook does not exist or its secret is wrong.', '回调不存在或密钥错误。'),
  SECRET_REFUSED: row(-32600, 400, 'never', 'warn', 'The request holds a protected value.', '请求中包含受保护的凭据。', 'protected_value'),
  VAULT_LOCKED: row(REFUSED, 503, 'never', 'error', 'The vault has no key; set ROOKERY_MASTER_KEY or restore master.key.', '保险库没有密钥，请设置 ROOKERY_MASTER_KEY 或恢复 master.key。'),
  STORAGE_LOW: row(REFUSED, 507, 'safe', 'error', 'Disk space is nearly used up; free some and try again.', '磁盘空间不足，请清理后重试。'),
  HOME_LOCKED: row(REFUSED, 423, 'safe', 'error', 'Another Rookery uses this home.', '另一个 Rookery 正在使用该目录。'),
  NATS_MISSING: row(REFUSED, 503, 'after-check', 'error', 'No nats-server could be found or fetched.', '找不到也无法获取 nats-server。'),
  PORT_IN_USE: row(REFUSED, 409, 'after-check', 'error', 'The address is in use by another program.', '该地址已被其他程序占用。'),
  NATS_TOO_OLD: row(REFUSED, 503, 'never', 'error', 'nats-server 2.15 or newer is needed.', '需要 nats-server 2.15 或更新版本。'),
  PERMISSION_VIOLATION: row(REFUSED, 403, 'never', 'error', 'NATS refused a subject; the permissions are out of date.', 'NATS 拒绝了某个主题，权限配置已过期。'),
  SHUTTING_DOWN: row(REFUSED, 503, 'safe', 'info', 'This process is stopping.', '该进程正在停止。'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;
