package monitoring

import "time"

// Severities of alerts.
const (
	Page = "page" // somebody must look now
	Warn = "warn" // somebody should look today
)

// Alert is a rule that calls somebody.
type Alert struct {
	Name     string        // in Prometheus
	Runbook  string        // the page in docs/runbooks, without its ending
	Severity string        // Page or Warn
	For      time.Duration // how long the condition must last
	Query    string        // the condition, in PromQL
	Summary  string        // a sentence with Prometheus' templates
}

// The recorded series, which the alerts and the dashboard share.
const (
	recordHold    = "spillway:permit_hold_seconds:mean"
	recordUsual   = "spillway:permit_hold_seconds:usual"
	recordRefused = "spillway:acquisitions_refused:ratio"
	recordAmplify = "spillway:retry_attempts:ratio"
	slowFactor    = "2"    // as watch.DefaultThresholds
	tightShare    = "0.01" // likewise
	wantOfAPermit = `error_type=~"limit_reached|queue_full|max_wait_exceeded|deadline_insufficient|dropped"`
)

// recording is a rule that computes a series.
type recording struct{ name, query string }

// recordings returns the series that are computed, those first that others need.
func (w Windows) recordings() []recording {
	fill := w.filler()
	return []recording{
		{recordHold, fill(`sum by ({limiter}) (rate($spillway.limiter.hold.time[{rate}])) / (sum by ({limiter}) (rate($spillway.limiter.hold.samples[{rate}])) > 0)`)},
		{recordUsual, fill(`quantile_over_time(0.5, ` + recordHold + `[{baseline}] offset {lag})`)},
		{recordRefused, fill(`sum by ({limiter}) (rate($spillway.limiter.acquisitions{` + wantOfAPermit + `}[{rate}])) / (sum by ({limiter}) (rate($spillway.limiter.acquisitions[{rate}])) > 0)`)},
		{recordAmplify, fill(`sum by ({retry}) (rate($spillway.retry.attempts[{rate}])) / (sum by ({retry}) (rate($spillway.retry.attempts{spillway_retry_attempt_type="original"}[{rate}])) > 0)`)},
	}
}

// filler fills the windows, the choices of the dashboard and the groups of labels into queries.
func (w Windows) filler() func(string) string {
	return func(query string) string {
		return expand(query,
			"{rate}", promDuration(w.Rate), "{baseline}", promDuration(w.Baseline), "{lag}", promDuration(w.Lag),
			"{hold}", promDuration(w.span(w.Hold)), "{long}", promDuration(w.span(w.Long)),
			"{filter}", filter, "{limiter}", byLimiter, "{executor}", byExecutor, "{retry}", byRetry, "{budget}", byBudget, "{machine}", byMachine)
	}
}

// Alerts returns the alerts for these windows. Faulty windows give a *spillway.ConfigError.
func (w Windows) Alerts() ([]Alert, error) {
	if err := w.validate(); err != nil {
		return nil, err
	}
	fill := w.filler()
	var all []Alert
	for _, group := range [][]Alert{w.guardAlerts(), w.workAlerts(), w.connectionAlerts()} {
		for _, a := range group {
			a.Query = fill(a.Query)
			all = append(all, a)
		}
	}
	return all, nil
}

const (
	guardLabels = `{{ $labels.spillway_limiter_name }}{{ with $labels.spillway_lane_name }} {{ . }}{{ end }} on {{ $labels.instance }}`
	slowQuery   = recordHold + ` > ` + slowFactor + ` * (` + recordUsual + `)`
)

// guardAlerts are about limiters and lanes.
func (w Windows) guardAlerts() []Alert {
	return []Alert{
		{
			"SpillwayBackendSlow", "backend-slow", Page, w.Rate, slowQuery,
			guardLabels + `: permits are held for {{ $value | humanizeDuration }}, more than ` + slowFactor + ` times the usual: the backend is slow, and a higher limit would load it more`,
		},
		{
			"SpillwayLimitTight", "limit-tight", Warn, w.Hold, `(` + recordRefused + ` > ` + tightShare + `) unless on ({limiter}) (` + slowQuery + `)`,
			guardLabels + `: {{ $value | humanizePercentage }} of the calls are refused while permits are held no longer than usual: the backend would bear more`,
		},
		{
			"SpillwayStuck", "stuck", Page, w.Hold,
			`sum by ({limiter}) (rate($spillway.limiter.completions[{hold}])) == 0 and on ({limiter}) sum by ({limiter}) ($spillway.limiter.permit.usage) > 0 and on ({limiter}) (sum by ({limiter}) (rate($spillway.limiter.acquisitions{` + wantOfAPermit + `}[{hold}])) > 0 or sum by ({limiter}) ($spillway.limiter.waiter.count) > 0)`,
			guardLabels + `: callers want permits, all that are out stay out: a deadlock, or a backend that hangs`,
		},
		{
			"SpillwayPermitHeldLong", "permit-held-long", Warn, w.Hold, `max by ({limiter}) ($spillway.limiter.permit.oldest.age) > 60`,
			guardLabels + `: a permit has been held for {{ $value | humanizeDuration }}: a leak, or a call without a deadline`,
		},
		{
			"SpillwaySaturated", "saturated", Warn, w.Long, `sum by ({limiter}) ($spillway.limiter.permit.usage) / sum by ({limiter}) ($spillway.limiter.permit.limit) > 0.9`,
			guardLabels + `: {{ $value | humanizePercentage }} of the permits are in use`,
		},
		{
			"SpillwayWaitersNeverDrain", "waiters", Warn, 0, `min_over_time($spillway.limiter.waiter.count[{rate}]) > 0 and $spillway.limiter.waiter.count offset {rate}`,
			guardLabels + `: there has been no moment without a queue: a standing queue adds delay and no throughput`,
		},
		{
			"SpillwayWaiterOld", "waiters", Warn, w.Hold, `max by ({limiter}) ($spillway.limiter.waiter.oldest.age) > 0.5`,
			guardLabels + `: the first in the queue has waited for {{ $value | humanizeDuration }}`,
		},
		{
			"SpillwaySheddingAll", "shedding-all", Warn, w.Long, `sum by ({limiter}) (rate($spillway.limiter.acquisitions{error_type="refuse_all"}[{rate}])) > 0`,
			guardLabels + `: the mode is RefuseAll, and calls keep coming`,
		},
		{
			"SpillwayPanics", "panics", Page, 0, `sum by ({limiter}) (increase($spillway.limiter.completions{spillway_outcome="panic"}[{long}])) > 0`,
			guardLabels + `: guarded calls panicked`,
		},
	}
}

const executorLabels = `{{ $labels.spillway_executor_name }} on {{ $labels.instance }}`

// workAlerts are about executors and retries.
func (w Windows) workAlerts() []Alert {
	return []Alert{
		{
			"SpillwayQueueWillFill", "queue-will-fill", Warn, w.Hold,
			`predict_linear($spillway.executor.queue.size[{long}], 900) > $spillway.executor.queue.capacity and $spillway.executor.queue.size > 0.2 * $spillway.executor.queue.capacity`,
			executorLabels + `: at this pace the queue is full within a quarter of an hour`,
		},
		{
			"SpillwayExpiredWork", "expired-work", Page, w.Rate,
			`sum by ({executor}) (rate($spillway.executor.tasks{error_type="deadline_exceeded"}[{rate}])) / (sum by ({executor}) (rate($spillway.executor.tasks[{rate}])) > 0) > ` + tightShare,
			executorLabels + `: {{ $value | humanizePercentage }} of the tasks expire in the queue: more comes in than the workers can do`,
		},
		{
			"SpillwayItemsLost", "items-lost", Page, 0, `increase($spillway.executor.items.lost[{long}]) > 0`,
			executorLabels + `: {{ $value | humanize }} fire-and-forget items failed, or weren't run`,
		},
		{
			"SpillwayTaskPanics", "panics", Page, 0, `increase($spillway.executor.tasks{error_type="panic"}[{long}]) > 0`,
			executorLabels + `: tasks panicked`,
		},
		{
			"SpillwayRetryAmplification", "retry-amplification", Warn, w.Long, recordAmplify + ` > 1.2`,
			`{{ $labels.spillway_retry_name }} on {{ $labels.instance }}: {{ $value | humanize }} attempts for each operation`,
		},
		{
			"SpillwayRetryBudgetExhausted", "retry-budget", Warn, w.Rate, `sum by ({budget}) (rate($spillway.retry.budget.retries{error_type="budget_exhausted"}[{rate}])) > 0`,
			`{{ $labels.spillway_retry_budget_name }} on {{ $labels.instance }}: {{ $value | humanize }} retries a second are denied: the dependency fails for more than a moment`,
		},
	}
}

const machineLabels = `{{ $labels.spillway_component_name }} on {{ $labels.instance }}`

// connectionAlerts are about connections and about the metrics themselves.
func (w Windows) connectionAlerts() []Alert {
	return []Alert{
		{
			"SpillwayNotConnected", "not-connected", Page, w.Hold, `max by ({machine}) ($spillway.lifecycle.status{spillway_lifecycle_state="connected"}) == 0`,
			machineLabels + `: there is no connection`,
		},
		{
			"SpillwayFlapping", "flapping", Warn, 0, `sum by ({machine}) (increase($spillway.lifecycle.transitions{spillway_lifecycle_state="connected"}[{long}])) > 3`,
			machineLabels + `: connected {{ $value | humanize }} times in ` + promDuration(w.span(w.Long)),
		},
		{
			"SpillwayOrphans", "orphans", Warn, w.Hold, `max by ({machine}) ($spillway.lifecycle.orphan.count) > 0`,
			machineLabels + `: {{ $value | humanize }} closed connections wait for calls that don't end`,
		},
		{
			"SpillwaySeriesOverflow", "series-overflow", Warn, 0, `count by (job, instance) ({__name__=~"(spillway|db_client|aerospike_client)_.+", otel_metric_overflow="true"}) > 0`,
			`{{ $labels.instance }} has metrics with more series than the SDK keeps: some are folded into one`,
		},
	}
}
