package otelx

import (
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/metric"

	"github.com/spillway-go/spillway/observe"
)

// instrument is a row of the table that is read in a callback: counts are whole numbers,
// seconds and gauges are not.
type instrument struct {
	row   observe.Metric
	whole metric.Int64Observable
	real  metric.Float64Observable
}

// addRow makes the instrument of a row, unless there is one, or the row is a histogram:
// what can be read from outside is none in OpenTelemetry.
func (in *Instrumentation) addRow(row observe.Metric) error {
	in.mu.Lock()
	have, ok := in.rows[row.Name]
	in.mu.Unlock()
	if ok {
		if have.row.Kind != row.Kind || have.row.Unit != row.Unit || !slices.Equal(have.row.Attributes, row.Attributes) {
			return fmt.Errorf("otelx: metric %s is described in two ways", row.Name)
		}
		return nil
	}
	if row.Kind == observe.Histogram {
		return nil
	}
	made, err := newInstrument(in.meter, row)
	if err != nil {
		return fmt.Errorf("otelx: metric %s: %w", row.Name, err)
	}
	in.mu.Lock()
	in.rows[row.Name] = made
	in.mu.Unlock()
	return nil
}

func newInstrument(meter metric.Meter, row observe.Metric) (i instrument, err error) {
	i.row = row
	unit, says := metric.WithUnit(row.Unit), metric.WithDescription(row.Description)
	switch {
	case row.Kind == observe.Counter && row.Unit == "s":
		i.real, err = meter.Float64ObservableCounter(row.Name, unit, says)
	case row.Kind == observe.Counter:
		i.whole, err = meter.Int64ObservableCounter(row.Name, unit, says)
	case row.Kind == observe.UpDownCounter && row.Unit == "s":
		i.real, err = meter.Float64ObservableUpDownCounter(row.Name, unit, says)
	case row.Kind == observe.UpDownCounter:
		i.whole, err = meter.Int64ObservableUpDownCounter(row.Name, unit, says)
	case row.Kind == observe.Gauge:
		i.real, err = meter.Float64ObservableGauge(row.Name, unit, says)
	default:
		err = errors.New("is of no kind that can be observed")
	}
	return i, err
}

// observable is the instrument as a callback names it.
func (i instrument) observable() metric.Observable {
	if i.whole != nil {
		return i.whole
	}
	return i.real
}

func (i instrument) observe(o metric.Observer, v float64, opts []metric.ObserveOption) {
	if i.whole != nil {
		o.ObserveInt64(i.whole, int64(v), opts...)
		return
	}
	o.ObserveFloat64(i.real, v, opts...)
}
