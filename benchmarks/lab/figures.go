package lab

import (
	"math"
	"time"
)

// Figures are what a run came to.
type Figures struct {
	values [metricCount]float64
	bins   []bin
}

// Of returns a figure; NaN if the run has none.
func (f *Figures) Of(m Metric) float64 { return f.values[m] }

// figures works out the figures of a run that has ended.
func (r *run) figures() *Figures {
	rec, w := r.record, r.w
	f := &Figures{bins: rec.bins}
	offered, good, first := 0, 0, &rec.streams[0]
	for i, t := range rec.streams {
		if i == 0 || !w.First {
			offered += t.offered
			good += t.good
		}
	}
	v := &f.values
	v[Goodput] = math.NaN()
	if ideal := w.Ideal(w.From, w.To); ideal > 0 {
		v[Goodput] = float64(good) / ideal
	}
	v[Success] = float64(first.good) / float64(first.offered)
	v[RefuseP50], v[RefuseP99] = math.NaN(), math.NaN()
	if rec.once+len(rec.refusals) > 0 {
		v[RefuseP50], v[RefuseP99] = rec.refusalQuantile(.5).Seconds(), rec.refusalQuantile(.99).Seconds()
	}
	v[P50], v[P99], v[P999] = math.NaN(), math.NaN(), math.NaN()
	if len(first.latencies) > 0 {
		v[P50], v[P99], v[P999] = quantile(first.latencies, .5).Seconds(), quantile(first.latencies, .99).Seconds(), quantile(first.latencies, .999).Seconds()
	}
	all := r.total()
	v[Waste] = all.Wasted / (all.Wasted + all.Useful)
	v[Amplification] = float64(rec.sends) / float64(rec.sent)
	v[SendsPerGood] = float64(rec.inWindow) / float64(good)
	v[SendRate] = float64(rec.inWindow) / (w.To - w.From).Seconds() / float64(w.Clients)
	v[Recovery] = math.NaN()
	if w.Ends > 0 {
		v[Recovery] = math.Inf(1)
		if d := recovery(rec.bins, w.Ends); d < math.MaxInt64 {
			v[Recovery] = d.Seconds()
		}
	}
	v[Fairness] = math.NaN()
	if w.Clients > 1 {
		v[Fairness] = jain(rec.clients)
	}
	could := 0.0
	for _, n := range w.Nodes {
		could += float64(n.Slots) * n.Speed.Integral(w.From, w.To)
	}
	v[Utilisation] = (r.work[1].Served - r.work[0].Served) / could
	v[PeakPending] = float64(r.peak.Load())
	r.limitFigures(v)
	return f
}

// limitFigures works out what the limit did. All are NaN if there was no limit.
func (r *run) limitFigures(v *[metricCount]float64) {
	for m := LimitMean; m <= IdleGrowth; m++ {
		v[m] = math.NaN()
	}
	bins, from, to := r.record.bins, int(r.w.From/binWidth), min(int(r.w.To/binWidth), len(r.record.bins)-1)
	var xs, ls []float64
	for i := from; i <= to; i++ {
		xs, ls = append(xs, (time.Duration(i)*binWidth).Minutes()), append(ls, bins[i].limit)
	}
	mean, deviation, slope := trend(xs, ls)
	if mean == 0 {
		return
	}
	least, most := ls[0], ls[0]
	for _, l := range ls {
		least, most = min(least, l), max(most, l)
	}
	v[LimitMean], v[LimitCV], v[LimitSlope], v[LimitRange] = mean, deviation/mean, math.Abs(slope)/mean, (most-least)/mean
	if second := from + int(time.Second/binWidth); second < len(bins) {
		v[LimitAfter] = bins[second].limit / bins[from].limit
	}
	if r.w.Idle == 0 {
		return
	}
	highest, peak := 0.0, 0
	for _, b := range bins[:r.w.Idle/binWidth] {
		highest, peak = max(highest, b.limit), max(peak, b.pending)
	}
	v[IdleGrowth] = highest / max(bins[0].limit, 2*float64(peak)+1)
}

// trend returns the mean, the standard deviation and the slope (least squares) of a series.
func trend(xs, ys []float64) (mean, deviation, slope float64) {
	n := float64(len(ys))
	sx, sy, sxx, sxy, syy := 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range ys {
		sx, sy = sx+xs[i], sy+ys[i]
		sxx, sxy, syy = sxx+xs[i]*xs[i], sxy+xs[i]*ys[i], syy+ys[i]*ys[i]
	}
	mean = sy / n
	deviation = math.Sqrt(max(syy/n-mean*mean, 0))
	if d := n*sxx - sx*sx; d > 0 {
		slope = (n*sxy - sx*sy) / d
	}
	return mean, deviation, slope
}
