package lab

import (
	"fmt"
	"math"
	"time"
)

// Metric is one of the figures of a run.
type Metric int

// The metrics. Success, P50, P99 and P999 are of the first stream. "In the window" is what was meant
// to be made in the time that is judged.
const (
	Goodput       Metric = iota // answers in time, of what a clairvoyant would have had, in the window
	Success                     // answers in time, of the calls in the window
	RefuseP50                   // how long it takes to refuse: from the intended time to the error of a call that was never sent
	RefuseP99                   //
	P50                         // latency of what was sent, from the intended time
	P99                         //
	P999                        //
	Waste                       // work of the backend whose answer nobody waited for any more, in the whole run
	Amplification               // attempts that reached the backend, for each operation that did, in the whole run
	SendsPerGood                // attempts in the window, for each good answer
	SendRate                    // attempts in a second of the window, by each process
	Recovery                    // from the end of the cause to ten tenths of a second in a row with 99 % success
	Fairness                    // Jain's index of the processes' good answers, once all have started
	Utilisation                 // useful work, of what the backend could do in the window
	LimitMean                   // the limit in the window, of all processes together
	LimitCV                     // its standard deviation by its mean
	LimitSlope                  // its trend by its mean, in a minute, either way
	LimitRange                  // its highest minus its lowest, by its mean
	LimitAfter                  // the limit a second after the window's begin, by that at its begin
	IdleGrowth                  // the highest limit while idle, by what is allowed: the first limit, or twice the peak plus 1
	PeakPending                 // the most operations under way at once: goroutines, and what they hold
	metricCount
)

// metricInfo is what there is to say about a metric.
type metricInfo struct {
	name  string
	up    bool // higher is better
	scale byte // how it is written: % for a share, s for seconds, x for a ratio, n for a number
}

func (m Metric) info() metricInfo {
	return [...]metricInfo{
		Goodput: {"goodput", true, '%'}, Success: {"success", true, '%'},
		RefuseP50: {"refuse p50", false, 's'}, RefuseP99: {"refuse p99", false, 's'},
		P50: {"p50", false, 's'}, P99: {"p99", false, 's'}, P999: {"p999", false, 's'},
		Waste: {"waste", false, '%'}, Amplification: {"amplification", false, 'x'},
		SendsPerGood: {"sends per good", false, 'x'}, SendRate: {"sends/s each", false, 'n'},
		Recovery: {"recovery", false, 's'}, Fairness: {"Jain", true, 'x'}, Utilisation: {"utilisation", true, '%'},
		LimitMean: {"limit", false, 'n'}, LimitCV: {"limit CV", false, 'x'}, LimitSlope: {"limit trend/min", false, '%'},
		LimitRange: {"limit range", false, '%'}, LimitAfter: {"limit after 1 s", false, '%'},
		IdleGrowth: {"idle growth", false, 'x'}, PeakPending: {"peak pending", false, 'n'},
	}[m]
}

// Metrics returns all of them.
func Metrics() []Metric {
	all := make([]Metric, metricCount)
	for i := range all {
		all[i] = Metric(i)
	}
	return all
}

// Name returns the metric's name.
func (m Metric) Name() string { return m.info().name }

// Reaches reports whether a value is at least as good as a bound.
func (m Metric) Reaches(v, bound float64) bool {
	if m.info().up {
		return v >= bound
	}
	return v <= bound
}

// Format writes a value.
func (m Metric) Format(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	switch scale := m.info().scale; {
	case scale == 's' && math.IsInf(v, 1):
		return "never"
	case math.IsInf(v, 0):
		return "∞"
	case scale == '%':
		return percent(v)
	case scale == 's':
		return seconds(v)
	case scale == 'n' && v >= 100:
		return fmt.Sprintf("%.0f", v)
	case scale == 'n':
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percent has more places where they tell something: near 100 %.
func percent(v float64) string {
	switch v *= 100; {
	case v > 99.9 && v < 100:
		return fmt.Sprintf("%.3f %%", v)
	case math.Abs(v) < 10 || v > 98:
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%.0f %%", v)
}

func seconds(v float64) string {
	d := time.Duration(v * 1e9)
	switch {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", v*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", v*1e3)
	}
	return fmt.Sprintf("%.1f s", v)
}

// Sign returns how the metric is compared with a bound.
func (m Metric) Sign() string {
	if m.info().up {
		return "≥"
	}
	return "≤"
}
