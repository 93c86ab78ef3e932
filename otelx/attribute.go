package otelx

// The attributes that the conventions don't have; those of the table are package observe's.
const (
	attrLimiter   = "spillway.limiter.name"
	attrLane      = "spillway.lane.name"
	attrExecutor  = "spillway.executor.name"
	attrRetry     = "spillway.retry.name"
	attrClient    = "spillway.component.name"
	attrOutcome   = "spillway.outcome"
	attrOperation = "spillway.operation.name"

	// Of spans alone.
	attrAttempts = "spillway.retry.attempt_count"
	attrAttempt  = "spillway.retry.attempt.number"
	attrWait     = "spillway.limiter.wait.duration"
	attrNode     = "spillway.backend.node"
)

// other is the value of an attribute that stands for all that are too many.
const other = "_OTHER"
