package monitoring

import (
	"bytes"
	"encoding/json"
)

// Panel is a graph of the dashboard.
type Panel struct {
	Title   string       // the graph's name
	Row     string       // the row that it stands in
	Unit    string       // in Grafana's words
	Help    string       // what to make of it
	Queries []PanelQuery // its lines
}

// PanelQuery is a line of a graph, or several.
type PanelQuery struct {
	Query  string // in PromQL, with Grafana's variables
	Legend string // with labels in double braces
}

// filter is what the dashboard's variables choose. They are written in brackets, because a
// dollar sign is that of a metric here.
const filter = `job=~"[[job]]", instance=~"[[instance]]"`

const (
	guardLegend    = "{{spillway_limiter_name}} {{spillway_lane_name}}"
	executorLegend = "{{spillway_executor_name}}"
	retryLegend    = "{{spillway_retry_name}}"
	machineLegend  = "{{spillway_component_name}}"
)

// Panels returns the graphs of the dashboard, in order.
func (w Windows) Panels() ([]Panel, error) {
	if err := w.validate(); err != nil {
		return nil, err
	}
	fill := w.filler()
	var all []Panel
	for _, group := range [][]Panel{guardPanels(), workPanels(), databasePanels(), connectionPanels()} {
		for _, p := range group {
			for i, q := range p.Queries {
				p.Queries[i].Query = fill(q.Query)
			}
			all = append(all, p)
		}
	}
	return all, nil
}

func one(query, legend string) []PanelQuery { return []PanelQuery{{query, legend}} }

func guardPanels() []Panel {
	return []Panel{
		{
			"Permits in use", "Saturation", "percentunit", "Use against limit. Near 1 for long: look at refusals and at the hold time.",
			one(`sum by ({limiter}) ($spillway.limiter.permit.usage{{filter}}) / sum by ({limiter}) ($spillway.limiter.permit.limit{{filter}})`, guardLegend),
		},
		{
			"Limit, and its changes", "Saturation", "short", "A limit that moves all the time is at the backend's edge.",
			[]PanelQuery{
				{`sum by ({limiter}) ($spillway.limiter.permit.limit{{filter}})`, guardLegend},
				{`sum by ({limiter}) (increase($spillway.limiter.limit.changes{{filter}}[{long}]))`, "changes " + guardLegend},
			},
		},
		{
			"Waiting", "Saturation", "short", "Callers that wait. A queue that never drains adds delay and no throughput.",
			one(`sum by ({limiter}) ($spillway.limiter.waiter.count{{filter}})`, guardLegend),
		},
		{
			"Oldest that waits", "Saturation", "s", "How long the first in the queue has waited.",
			one(`max by ({limiter}) ($spillway.limiter.waiter.oldest.age{{filter}})`, guardLegend),
		},
		{
			"Hold time, and the usual one", "Saturation", "s", "How long permits are held: what the backend takes. Twice the usual is a slow backend.",
			[]PanelQuery{{recordHold + `{{filter}}`, guardLegend}, {recordUsual + `{{filter}}`, "usual " + guardLegend}},
		},
		{
			"Calls admitted", "Outcomes", "ops", "Calls that got a permit.",
			one(`sum by ({limiter}) (rate($spillway.limiter.acquisitions{{filter}, error_type=""}[{rate}]))`, guardLegend),
		},
		{
			"Calls refused, by reason", "Outcomes", "ops", "Early refusals keep the rest alive. For want of a permit at a usual hold time: the limit is tight.",
			one(`sum by (spillway_limiter_name, spillway_lane_name, error_type) (rate($spillway.limiter.acquisitions{{filter}, error_type!=""}[{rate}]))`, guardLegend+" {{error_type}}"),
		},
		{
			"Calls ended, by outcome", "Outcomes", "ops", "What became of those that were admitted.",
			one(`sum by (spillway_limiter_name, spillway_lane_name, spillway_outcome) (rate($spillway.limiter.completions{{filter}}[{rate}]))`, guardLegend+" {{spillway_outcome}}"),
		},
		{
			"Wait, p99", "Outcomes", "s", "Of the calls that waited at all.",
			one(`histogram_quantile(0.99, sum by ({limiter}, le) (rate($spillway.limiter.wait.duration_bucket{{filter}}[{rate}])))`, guardLegend),
		},
	}
}

func workPanels() []Panel {
	return []Panel{
		{
			"Queue", "Executors and retries", "short", "Jobs that wait, against what may wait.",
			[]PanelQuery{
				{`sum by ({executor}) ($spillway.executor.queue.size{{filter}})`, executorLegend},
				{`sum by ({executor}) ($spillway.executor.queue.capacity{{filter}})`, "capacity " + executorLegend},
			},
		},
		{
			"Jobs, by what became of them", "Executors and retries", "ops", "Expired ones were dropped before they cost anything.",
			one(`sum by (spillway_executor_name, error_type) (rate($spillway.executor.tasks{{filter}}[{rate}]))`, executorLegend+" {{error_type}}"),
		},
		{
			"Attempts for each operation", "Executors and retries", "short", "1 is no retries. Above 1.2 for long: the dependency fails, and we add to its load.",
			one(recordAmplify+`{{filter}}`, retryLegend),
		},
		{
			"Retry budget left", "Executors and retries", "short", "At 0 retries are denied.",
			one(`min by ({budget}) ($spillway.retry.budget.available{{filter}})`, "{{spillway_retry_budget_name}}"),
		},
	}
}

func databasePanels() []Panel {
	const op = "{{db_operation_name}}"
	const db = `{filter}, db_system_name="aerospike"`
	return []Panel{
		{
			"Operations", "Database", "ops", "As callers see them, refused ones too.",
			one(`sum by (db_operation_name) (rate(db_client_operation_duration_seconds_count{`+db+`}[{rate}]))`, op),
		},
		{
			"Errors, by type", "Database", "ops", "Refusals of ours are among them: they have the names of our reasons.",
			one(`sum by (db_operation_name, error_type) (rate(db_client_operation_duration_seconds_count{`+db+`, error_type!=""}[{rate}]))`, op+" {{error_type}}"),
		},
		{
			"Duration, p99", "Database", "s", "With waits, back-offs and retries: what callers feel.",
			one(`histogram_quantile(0.99, sum by (db_operation_name, le) (rate(db_client_operation_duration_seconds_bucket{`+db+`}[{rate}])))`, op),
		},
		{
			"Duration, median", "Database", "s", "Likewise.",
			one(`histogram_quantile(0.5, sum by (db_operation_name, le) (rate(db_client_operation_duration_seconds_bucket{`+db+`}[{rate}])))`, op),
		},
	}
}

func connectionPanels() []Panel {
	return []Panel{
		{
			"State", "Connection", "short", "1 for the current state.",
			one(`max by (spillway_component_name, spillway_lifecycle_state) ($spillway.lifecycle.status{{filter}} == 1)`, machineLegend+" {{spillway_lifecycle_state}}"),
		},
		{
			"Transitions", "Connection", "short", "More than a few connects in a quarter of an hour is flapping.",
			one(`sum by (spillway_component_name, spillway_lifecycle_state) (increase($spillway.lifecycle.transitions{{filter}}[{long}]))`, machineLegend+" to {{spillway_lifecycle_state}}"),
		},
		{
			"Connections open, orphans", "Connection", "short", "Orphans wait for calls that don't end.",
			[]PanelQuery{
				{`sum by ({machine}) ($spillway.lifecycle.connection.open{{filter}})`, "open " + machineLegend},
				{`sum by ({machine}) ($spillway.lifecycle.orphan.count{{filter}})`, "orphans " + machineLegend},
			},
		},
		{
			"Connects take", "Connection", "s", "The mean of all so far, failed ones too.",
			one(`sum by ({machine}) ($spillway.lifecycle.connect.duration_sum{{filter}}) / sum by ({machine}) ($spillway.lifecycle.connect.duration_count{{filter}})`, machineLegend),
		},
		{
			"Leases", "Connection", "short", "Calls that use the current connection.",
			one(`sum by ({machine}) ($spillway.lifecycle.lease.count{{filter}})`, machineLegend),
		},
	}
}

// Dashboard returns the dashboard for Grafana, in JSON: to be imported, with the data
// source, the job and the instance to choose. Faulty windows give a *spillway.ConfigError.
func (w Windows) Dashboard() ([]byte, error) {
	panels, err := w.Panels()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err = enc.Encode(layout(panels))
	return b.Bytes(), err
}
