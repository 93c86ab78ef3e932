package aerospike

import (
	"sync"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/observe"
)

// What the driver counts, in the order of driverMetrics.
const (
	driverAttempts = iota
	driverFailures
	driverTimeouts
	driverClosed
	driverMisses
	driverBreaker
	driverRetries
	driverTends
	driverTendFailures

	driverCounts
)

// driverStatsEvery is how often the driver is asked at most: its statistics go through
// JSON, histograms and all.
const driverStatsEvery = 5 * time.Second

// learnTimeout bounds the question for the cluster's name. Who asks for metrics can do
// without it.
const learnTimeout = time.Second

// Metrics implements observe.Describer: what the driver says of its connections, by the
// name of the cluster that the client is connected to, if it has one.
func (c *Client) Metrics() []observe.Metric {
	m := ownMetrics()
	return []observe.Metric{
		m.expired, m.nodes, m.open, m.counts[driverAttempts], m.counts[driverFailures], m.counts[driverTimeouts], m.counts[driverClosed],
		m.counts[driverMisses], m.counts[driverBreaker], m.counts[driverRetries], m.counts[driverTends],
	}
}

// ownTable is the metrics beyond those of package observe.
type ownTable struct {
	expired, nodes, open observe.Metric
	counts               [driverCounts]observe.Metric
}

const (
	attrClient  = "spillway.component.name"
	attrCluster = "aerospike.cluster.name"
	attrError   = "error.type"
)

func ownMetrics() ownTable {
	client, cluster := []string{attrClient}, []string{attrClient, attrCluster}
	counter := func(name, unit, says string) observe.Metric {
		return observe.Metric{Name: "aerospike.client." + name, Kind: observe.Counter, Unit: unit, Description: says, Attributes: cluster}
	}
	t := ownTable{
		expired: observe.Metric{Name: "aerospike.client.expired", Kind: observe.Counter, Unit: "{call}", Description: "Calls that had no time left and were not sent", Attributes: client},
		nodes:   observe.Metric{Name: "aerospike.client.node.count", Kind: observe.UpDownCounter, Unit: "{node}", Description: "Nodes that the driver knows", Attributes: cluster},
		open:    observe.Metric{Name: "aerospike.client.connection.open", Kind: observe.UpDownCounter, Unit: "{connection}", Description: "Connections that the driver has open", Attributes: cluster},
		counts: [driverCounts]observe.Metric{
			driverAttempts: counter("connection.attempts", "{attempt}", "Connections that the driver tried to open"),
			driverFailures: counter("connection.failures", "{failure}", "Failures to open a connection, and of open ones"),
			driverTimeouts: counter("connection.timeouts", "{timeout}", "Timeouts of connections"),
			driverClosed:   counter("connection.closed", "{connection}", "Connections that the driver closed, for whatever reason"),
			driverMisses:   counter("connection.pool.misses", "{miss}", "Commands that found the pool of their node empty"),
			driverBreaker:  counter("breaker.hits", "{hit}", "Commands that the driver's circuit breaker refused"),
			driverRetries:  counter("retries", "{retry}", "Attempts that the driver repeated by itself"),
			driverTends:    counter("tends", "{tend}", "Rounds of cluster maintenance, by outcome"),
		},
	}
	t.counts[driverTends].Attributes = []string{attrClient, attrCluster, attrError}
	t.counts[driverTendFailures] = t.counts[driverTends]
	return t
}

// ownPoints are the client's own points. Those about a connection are the current
// connection's, and there are none without one; but the counts are those of all
// connections that there were.
func (c *core) ownPoints() []observe.Point {
	m := ownMetrics()
	points := []observe.Point{{Metric: m.expired, Attributes: []observe.Attribute{{Key: attrClient, Value: c.cfg.Name}}, Value: float64(c.missed.expired.Load())}}
	lease, err := c.machine.Lease() // so that the driver's client isn't closed meanwhile
	if err != nil {
		return points
	}
	defer lease.Release()
	s := lease.Conn()
	add := func(m observe.Metric, v float64, errorType string) {
		attributes := []observe.Attribute{{Key: attrClient, Value: c.cfg.Name}}
		if s.cluster != "" {
			attributes = append(attributes, observe.Attribute{Key: attrCluster, Value: s.cluster})
		}
		if errorType != "" {
			attributes = append(attributes, observe.Attribute{Key: attrError, Value: errorType})
		}
		points = append(points, observe.Point{Metric: m, Attributes: attributes, Value: v})
	}
	totals, open := c.driver.totals(s)
	add(m.nodes, float64(len(s.client.Cluster().GetNodes())), "")
	add(m.open, open, "")
	for i, n := range totals {
		errorType := ""
		if i == driverTendFailures {
			errorType = "failed"
		}
		add(m.counts[i], n, errorType)
	}
	return points
}

// driverTotals adds up what the drivers of all sessions count.
type driverTotals struct {
	mu   sync.Mutex
	past [driverCounts]float64 // of ended sessions
	last map[*session]*driverReading
}

// driverReading is what a session's driver said last.
type driverReading struct {
	at     time.Time
	counts [driverCounts]float64
	open   float64
}

// totals returns the counts of all sessions, and the open connections of s, whose lease
// the caller holds. It asks the driver of s, unless that was just asked.
func (d *driverTotals) totals(s *session) (sum [driverCounts]float64, open float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.last[s]
	if r == nil {
		if d.last == nil {
			d.last = map[*session]*driverReading{}
		}
		r = new(driverReading)
		d.last[s] = r
	}
	if time.Since(r.at) >= driverStatsEvery {
		r.ask(s.client)
	}
	sum = d.past
	for _, r := range d.last {
		for i, n := range r.counts {
			sum[i] += n
		}
	}
	return sum, r.open
}

// retire takes the last counts of a session's driver, before it is closed.
func (d *driverTotals) retire(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.last[s]
	if r == nil {
		r = new(driverReading)
	}
	r.ask(s.client)
	for i, n := range r.counts {
		d.past[i] += n
	}
	delete(d.last, s)
}

// ask reads the driver's statistics. Counts never go back, whatever the driver says of
// nodes that left and came back; and nobody is harmed if it panics.
func (r *driverReading) ask(client *as.Client) {
	defer func() { _ = recover() }()
	r.at = time.Now()
	stats, err := client.Stats()
	if err != nil {
		return
	}
	all, _ := stats["cluster-aggregated-stats"].(map[string]any)
	for i, key := range [driverCounts]string{
		"connections-attempts", "connections-failed", "connections-error-timeout", "closed-connections", "connections-pool-empty",
		"circuit-breaker-hits", "transaction-retry-count", "tends-successful", "tends-failed",
	} {
		n, _ := all[key].(float64)
		r.counts[i] = max(r.counts[i], n)
	}
	if open, ok := stats["open-connections"].(int); ok {
		r.open = float64(open)
	}
}

// learnCluster finds out the cluster's name: from the policy, which the driver checks, or
// from a node, unless the driver's client is in use already, for the question might have
// to wait then. Not knowing it is no error.
func (s *session) learnCluster() {
	if s.cluster = s.owner.cfg.ClientPolicy.ClusterName; s.cluster != "" || s.owner.wrapped {
		return
	}
	nodes := s.client.Cluster().GetNodes()
	if len(nodes) == 0 {
		return
	}
	answer, err := nodes[0].RequestInfo(&as.InfoPolicy{Timeout: learnTimeout}, "cluster-name")
	if name := answer["cluster-name"]; err == nil && name != "null" {
		s.cluster = name
	}
}
