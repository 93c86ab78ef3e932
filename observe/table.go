package observe

// The attributes of the table.
const (
	attrLimiter  = "spillway.limiter.name"
	attrLane     = "spillway.lane.name"
	attrExecutor = "spillway.executor.name"
	attrWorker   = "spillway.executor.worker.state"
	attrRetry    = "spillway.retry.name"
	attrRetried  = "spillway.retry.retried"
	attrAttempt  = "spillway.retry.attempt.type"
	attrBudget   = "spillway.retry.budget.name"
	attrName     = "spillway.component.name"
	attrState    = "spillway.lifecycle.state"
	attrPrevious = "spillway.lifecycle.previous_state"
	attrOutcome  = "spillway.outcome"
	attrTurn     = "spillway.limiter.limit.direction"
	attrError    = "error.type" // absent on success
)

// row is the place of a metric in the table.
type row uint8

const (
	permitLimit row = iota
	limitChanges
	permitUsage
	permitGhosts
	permitOldest
	waiterCount
	waiterLimit
	waiterOldest
	acquisitions
	shadowRefusals
	completions
	holdTime
	holdSamples
	holdDuration
	waitDuration

	queueSize
	queueCapacity
	queueOldest
	submitterCount
	workerCount
	workerLimit
	submissions
	tasks
	lateTasks
	lostItems
	taskWait
	taskRun

	retryOperations
	retryAttempts
	retryWaiting
	retryDelay
	budgetLimit
	budgetAvailable
	budgetRetries

	lifecycleStatus
	lifecycleTransitions
	lifecycleLeases
	lifecycleOpen
	lifecycleOrphans
	lifecycleCloseErrors
	lifecycleConnect
	lifecycleDrain

	registryKeys
	registryKeyLimit
	registryWaiters
	registryLeases
	registryOpen
	registryDials

	rows
)

// table is the one authority on the names, kinds, units and attributes of metrics.
var table = [rows]Metric{
	permitLimit:    {"spillway.limiter.permit.limit", UpDownCounter, "{permit}", "Permits that may be held at once", []string{attrLimiter, attrLane}},
	limitChanges:   {"spillway.limiter.limit.changes", Counter, "{change}", "Changes of the limit, by whoever made them", []string{attrLimiter, attrLane, attrTurn}},
	permitUsage:    {"spillway.limiter.permit.usage", UpDownCounter, "{permit}", "Permits held now, ghosts included", []string{attrLimiter, attrLane}},
	permitGhosts:   {"spillway.limiter.ghost.count", UpDownCounter, "{permit}", "Permits of calls that timed out and may still be worked on", []string{attrLimiter, attrLane}},
	permitOldest:   {"spillway.limiter.permit.oldest.age", Gauge, "s", "Age of the longest-held permit, where holders are tracked", []string{attrLimiter, attrLane}},
	waiterCount:    {"spillway.limiter.waiter.count", UpDownCounter, "{waiter}", "Callers that wait for a permit", []string{attrLimiter, attrLane}},
	waiterLimit:    {"spillway.limiter.waiter.limit", UpDownCounter, "{waiter}", "Callers that may wait before others are refused", []string{attrLimiter, attrLane}},
	waiterOldest:   {"spillway.limiter.waiter.oldest.age", Gauge, "s", "How long the first of those who wait has waited", []string{attrLimiter, attrLane}},
	acquisitions:   {"spillway.limiter.acquisitions", Counter, "{acquisition}", "Calls that asked for a permit, by what became of it", []string{attrLimiter, attrLane, attrError}},
	shadowRefusals: {"spillway.limiter.shadow.refusals", Counter, "{acquisition}", "Calls that mode Shadow admitted and Enforce would have refused", []string{attrLimiter, attrLane}},
	completions:    {"spillway.limiter.completions", Counter, "{call}", "Admitted calls that ended, by the class of their end", []string{attrLimiter, attrLane, attrOutcome}},
	holdTime:       {"spillway.limiter.hold.time", Counter, "s", "Time that the sampled permits were held, together", []string{attrLimiter, attrLane}},
	holdSamples:    {"spillway.limiter.hold.samples", Counter, "{permit}", "Permits whose hold time was sampled", []string{attrLimiter, attrLane}},
	holdDuration:   {"spillway.limiter.hold.duration", Histogram, "s", "How long permits were held, of a sample", []string{attrLimiter, attrLane}},
	waitDuration:   {"spillway.limiter.wait.duration", Histogram, "s", "How long calls waited for a permit, of those that waited", []string{attrLimiter, attrLane}},

	queueSize:      {"spillway.executor.queue.size", UpDownCounter, "{task}", "Tasks queued now", []string{attrExecutor}},
	queueCapacity:  {"spillway.executor.queue.capacity", UpDownCounter, "{task}", "Tasks that the queue can hold", []string{attrExecutor}},
	queueOldest:    {"spillway.executor.queue.oldest.age", Gauge, "s", "How long the first task in the queue has waited", []string{attrExecutor}},
	submitterCount: {"spillway.executor.submitter.count", UpDownCounter, "{submitter}", "Callers that wait for room in the queue", []string{attrExecutor}},
	workerCount:    {"spillway.executor.worker.count", UpDownCounter, "{worker}", "Workers by state", []string{attrExecutor, attrWorker}},
	workerLimit:    {"spillway.executor.worker.limit", UpDownCounter, "{worker}", "Workers there may be", []string{attrExecutor}},
	submissions:    {"spillway.executor.submissions", Counter, "{submission}", "Tasks handed in", []string{attrExecutor}},
	tasks:          {"spillway.executor.tasks", Counter, "{task}", "Tasks that ended, or never began, by what became of them", []string{attrExecutor, attrError}},
	lateTasks:      {"spillway.executor.tasks.late", Counter, "{task}", "Tasks that ended after their deadline: wasted work", []string{attrExecutor}},
	lostItems:      {"spillway.executor.items.lost", Counter, "{item}", "Items of fire-and-forget tasks that failed or weren't run", []string{attrExecutor}},
	taskWait:       {"spillway.executor.wait.duration", Histogram, "s", "From submission to start, of the tasks that started", []string{attrExecutor}},
	taskRun:        {"spillway.executor.task.duration", Histogram, "s", "From start to end", []string{attrExecutor}},

	retryOperations: {"spillway.retry.operations", Counter, "{operation}", "Operations that ended, by why they were not tried again", []string{attrRetry, attrError, attrRetried}},
	retryAttempts:   {"spillway.retry.attempts", Counter, "{attempt}", "Attempts started", []string{attrRetry, attrAttempt}},
	retryWaiting:    {"spillway.retry.waiting", UpDownCounter, "{operation}", "Operations that are in a back-off", []string{attrRetry}},
	retryDelay:      {"spillway.retry.delay.duration", Histogram, "s", "The back-offs, as they were drawn", []string{attrRetry}},
	budgetLimit:     {"spillway.retry.budget.limit", UpDownCounter, "{token}", "Retries that can be saved up", []string{attrBudget}},
	budgetAvailable: {"spillway.retry.budget.available", Gauge, "{token}", "Retries that can be had now", []string{attrBudget}},
	budgetRetries:   {"spillway.retry.budget.retries", Counter, "{retry}", "Retries that were asked for, by what became of it", []string{attrBudget, attrError}},

	lifecycleStatus:      {"spillway.lifecycle.status", UpDownCounter, "1", "1 for the current state, 0 for the others", []string{attrName, attrState}},
	lifecycleTransitions: {"spillway.lifecycle.transitions", Counter, "{transition}", "Changes of state", []string{attrName, attrPrevious, attrState}},
	lifecycleLeases:      {"spillway.lifecycle.lease.count", UpDownCounter, "{lease}", "Leases of the current connection that are out", []string{attrName}},
	lifecycleOpen:        {"spillway.lifecycle.connection.open", UpDownCounter, "{connection}", "Connections that were dialled and not closed yet", []string{attrName}},
	lifecycleOrphans:     {"spillway.lifecycle.orphan.count", UpDownCounter, "{connection}", "Connections that wait for their last lease after Close has gone", []string{attrName}},
	lifecycleCloseErrors: {"spillway.lifecycle.close.errors", Counter, "{error}", "Connections whose close failed", []string{attrName}},
	lifecycleConnect:     {"spillway.lifecycle.connect.duration", Histogram, "s", "How long connects took, by outcome", []string{attrName, attrError}},
	lifecycleDrain:       {"spillway.lifecycle.drain.duration", Histogram, "s", "How long closes took: the drain, and the close of the connection", []string{attrName}},

	registryKeys:     {"spillway.registry.key.count", UpDownCounter, "{key}", "Keys that are connected or connecting", []string{attrName}},
	registryKeyLimit: {"spillway.registry.key.limit", UpDownCounter, "{key}", "Keys there may be", []string{attrName}},
	registryWaiters:  {"spillway.registry.waiter.count", UpDownCounter, "{waiter}", "Callers that wait for a dial", []string{attrName}},
	registryLeases:   {"spillway.registry.lease.count", UpDownCounter, "{lease}", "Leases that are out", []string{attrName}},
	registryOpen:     {"spillway.registry.connection.open", UpDownCounter, "{connection}", "Connections that were dialled and not closed yet", []string{attrName}},
	registryDials:    {"spillway.registry.dials", Counter, "{dial}", "Dials that ended, by outcome", []string{attrName, attrError}},
}
