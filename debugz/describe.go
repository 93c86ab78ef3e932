package debugz

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

// describe fills in what there is to say about a component that gives nothing out, and
// judges it.
func describe(e *entry, it *item, w windows, cfg *Config) finding {
	s := it.snapshot
	before, _ := w.rate.of(it.id)
	switch {
	case s.Retry != nil:
		return retrier(e, s.Retry, before.Retry, w, cfg)
	case s.Budget != nil:
		return budget(e, s.Budget, before.Budget, w)
	case s.Lifecycle != nil:
		return machine(e, s.Lifecycle, cfg)
	case s.Registry != nil:
		return registry(e, s.Registry, before.Registry, w)
	}
	return finding{idle, 0, "–", "it says of itself what is below"}
}

// retrier judges by what was given up: one operation in a hundred needs somebody, as one
// refused call in a hundred does.
func retrier(e *entry, now, before *retry.Stats, w windows, cfg *Config) finding {
	known := before != nil
	if !known {
		before = &retry.Stats{}
	}
	gaveUp := func(s *retry.Stats) (n uint64) {
		for _, r := range []retry.StopReason{retry.StopAttempts, retry.StopElapsed, retry.StopDeadline, retry.StopHint, retry.StopBudget} {
			n += s.Ended.Of(r)
		}
		return n
	}
	operations := w.rateOf(known, now.Ended.Total(), before.Ended.Total())
	retries := w.rateOf(known, now.Retries, before.Retries)
	given := w.rateOf(known, gaveUp(now), gaveUp(before))
	perOperation := "–"
	if first := w.rateOf(known, now.Originals, before.Originals); first > 0 {
		perOperation = fmt.Sprintf("%.2f", 1+float64(retries/first))
	}
	delays := spreadOf(now.Delays, before.Delays, known)
	e.Figures = facts{
		{"operations", operations},
		{"retries", retries},
		{"attempts each", perOperation},
		{"given up", given},
		{"in back-off", now.BackingOff},
		{"back-off p50", delays.Median},
		{"back-off p99", delays.High},
	}
	for i, n := range now.Ended {
		if n > 0 {
			e.Facts = append(e.Facts, fact{retry.StopReason(i).String(), n})
		}
	}
	e.Facts = append(e.Facts, fact{"first attempts", now.Originals}, fact{"retried", now.Retries},
		fact{"canceled", now.Canceled}, fact{"invalid", now.Invalid}, fact{"panics", now.Aborted})
	switch {
	case given > 0 && float64(given) >= cfg.Thresholds.TightShare*float64(operations):
		return finding{warn, urgentTight + 5, "giving up", fmt.Sprintf("%s of %s operations are given up, at %s attempts each", given, operations, perOperation)}
	case retries > 0 || now.BackingOff > 0:
		return finding{fine, 0, "retrying", fmt.Sprintf("%s retries for %s operations, %d are in a back-off", retries, operations, now.BackingOff)}
	case operations > 0:
		return finding{fine, 0, "busy", "operations succeed, or fail for good, at the first attempt"}
	}
	return finding{idle, 0, "idle", "nothing is going on"}
}

func budget(e *entry, now, before *retry.BudgetStats, w windows) finding {
	known := before != nil
	if !known {
		before = &retry.BudgetStats{}
	}
	granted, denied := w.rateOf(known, now.Granted, before.Granted), w.rateOf(known, now.Denied, before.Denied)
	e.Use = &use{Of: "retries left", Taken: now.Available, Limit: float64(now.Burst)}
	e.Figures = facts{{"granted", granted}, {"denied", denied}}
	e.Facts = facts{{"granted in all", now.Granted}, {"refunded in all", now.Refunded}, {"denied in all", now.Denied}}
	switch {
	case denied > 0:
		return finding{warn, urgentTight + 2, "used up", fmt.Sprintf("%s retries are denied: more fails than is worth repeating; it holds back a storm", denied)}
	case granted > 0:
		return finding{fine, 0, "in use", fmt.Sprintf("%s retries are paid for", granted)}
	}
	return finding{idle, 0, "idle", "no retry asks for anything"}
}

// longConnecting is from where on a dial takes too long.
const longConnecting = 5 * time.Second

func machine(e *entry, now *lifecycle.Stats, cfg *Config) finding {
	since := seconds(math.NaN())
	if !now.Since.IsZero() {
		since = secondsOf(time.Since(now.Since))
	}
	e.Figures = facts{
		{"state", now.State.String()},
		{"for", since},
		{"generation", now.Generation},
		{"leases", now.Leases},
		{"open", now.Open()},
		{"orphans", now.Orphans},
		{"failed dials", now.Failed},
		{"last error", errorText(now.LastError, cfg.ErrorTexts)},
	}
	e.Facts = facts{
		{"connected in all", now.Connected},
		{"refused", now.Refused},
		{"late dials", now.Late},
		{"unleased", now.Unleased},
		{"opened in all", now.Opened},
		{"closed in all", now.Closed},
		{"close errors", now.CloseErrors},
		{"orphaned in all", now.Orphaned},
		{"at work", now.Background},
	}
	state := now.State.String()
	switch {
	case now.State == lifecycle.Disconnected && now.Connected+now.Failed > 0:
		return finding{bad, urgentDisconnected, state, fmt.Sprintf("there is no connection; %d dials have failed, %d calls found none", now.Failed, now.Unleased)}
	case now.State == lifecycle.Disconnected:
		return finding{idle, 0, state, "nobody has asked for a connection"}
	case now.State == lifecycle.Connecting && float64(since) > longConnecting.Seconds():
		return finding{warn, urgentSlow + 5, state, fmt.Sprintf("the dial has taken %s; %d have failed", since, now.Failed)}
	case now.Orphans > 0:
		return finding{warn, urgentTight - 5, "orphans", fmt.Sprintf("%d connections that were to be closed wait for calls that don't end", now.Orphans)}
	}
	return finding{fine, 0, state, fmt.Sprintf("for %s, with %d leases out", since, now.Leases)}
}

func registry(e *entry, now, before *lifecycle.RegistryStats, w windows) finding {
	known := before != nil
	if !known {
		before = &lifecycle.RegistryStats{}
	}
	refused, failed := w.rateOf(known, now.Refused, before.Refused), w.rateOf(known, now.Failed, before.Failed)
	e.Use = &use{Of: "keys", Taken: float64(now.Keys), Limit: float64(now.MaxKeys)}
	e.Figures = facts{
		{"connecting", now.Connecting},
		{"waiting", now.Waiting},
		{"leases", now.Leases},
		{"open", now.Open()},
		{"orphans", now.Orphans},
		{"dials", w.rateOf(known, now.Connected, before.Connected)},
		{"failed", failed},
		{"refused", refused},
	}
	e.Facts = facts{
		{"connected in all", now.Connected},
		{"failed in all", now.Failed},
		{"refused in all", now.Refused},
		{"late dials", now.Late},
		{"removed", now.Removed},
		{"close errors", now.CloseErrors},
		{"orphaned in all", now.Orphaned},
		{"at work", now.Background},
	}
	switch {
	case refused > 0:
		return finding{warn, urgentTight, "full", fmt.Sprintf("%s calls are refused: %d of %d keys are in use, %d callers wait for a dial", refused, now.Keys, now.MaxKeys, now.Waiting)}
	case failed > 0:
		return finding{warn, urgentSlow + 5, "dials fail", fmt.Sprintf("%s dials fail, %d callers wait for one", failed, now.Waiting)}
	case now.Keys > 0:
		return finding{fine, 0, "busy", fmt.Sprintf("%d keys are in use, %d are being dialled", now.Keys, now.Connecting)}
	}
	return finding{idle, 0, "idle", "no key is in use"}
}

// maxOwn is how many of a component's own points are shown.
const maxOwn = 50

// ownPoints are what a component says of itself beyond what its kind does.
func ownPoints(points []observe.Point) (all facts) {
	for i, p := range points {
		if i == maxOwn {
			return append(all, fact{"more", uint64(len(points) - maxOwn)})
		}
		all = append(all, ownFact(p))
	}
	return all
}

func ownFact(p observe.Point) fact {
	words := []string{p.Metric.Name}
	for _, a := range p.Attributes {
		words = append(words, a.Value)
	}
	name := strings.Join(words, " ")
	switch {
	case p.Distribution != nil:
		return fact{printable(name + " p99"), secondsOf(p.Distribution.Quantile(0.99))}
	case p.Metric.Unit == "s":
		return fact{printable(name), seconds(p.Value)}
	}
	return fact{printable(name), fmt.Sprintf("%.6g", p.Value)}
}
