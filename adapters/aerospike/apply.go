package aerospike

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
	"github.com/spillway-go/spillway/retry"
)

// inForce are the settings in force. They are replaced as a whole and never changed.
type inForce struct {
	mode          spillway.Mode
	lanes         []LaneConfig    // as in the lane table, with the limits in force
	modes         []spillway.Mode // of the lanes
	reads, writes *retry.Retrier[struct{}]
	// The policies that the retriers were made of; MaxAttempts 0 is none.
	readPolicy, writePolicy retry.Policy
}

// firstInForce are the settings of the configuration.
func (c *core) firstInForce() *inForce {
	f := &inForce{
		mode: c.cfg.Mode, lanes: slices.Clone(c.lanes.configs), modes: make([]spillway.Mode, len(c.lanes.configs)),
		reads: c.newRetrier(c.cfg.Reads), writes: c.newRetrier(c.cfg.Writes), readPolicy: c.cfg.Reads, writePolicy: c.cfg.Writes,
	}
	for i := range f.modes {
		f.modes[i] = c.cfg.Mode
	}
	return f
}

// Apply changes settings while calls are under way. All are validated first; if one of
// them is wrong, a *spillway.ConfigError lists every fault and nothing is changed.
// Then they are in force for every node, also for those that join later and after a
// reconnect, and are logged with what they were. Calls that were admitted keep their
// permits. Raising a limit takes effect at once; lowering it admits nobody until
// enough calls have ended. A change of the retries takes effect for calls that begin
// later; their statistics begin anew. Any other error names a lane that couldn't be set;
// the settings are then in force everywhere else.
func (c *Client) Apply(s Settings) error {
	if c.core == nil {
		return errZero
	}
	c.applying.Lock()
	defer c.applying.Unlock()
	old := c.inForce.Load()
	next, err := c.next(old, s)
	if err != nil {
		return err
	}
	c.inForce.Store(next)
	c.logApplied(old, next)
	if session, ok := c.machine.Current(); ok {
		return session.obey(next)
	}
	return nil
}

// next works out the settings that follow from s.
func (c *core) next(old *inForce, s Settings) (*inForce, error) {
	e := &spillway.ConfigError{Component: "aerospike.Settings", Name: c.cfg.Name}
	next := *old
	next.lanes, next.modes = slices.Clone(old.lanes), slices.Clone(old.modes)
	if s.Mode != nil {
		if !s.Mode.Valid() {
			e.Add("Mode", *s.Mode, "must be enforce, shadow, off or refuse-all")
		}
		next.mode = *s.Mode
		for i := range next.modes {
			next.modes[i] = *s.Mode
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lanes)) {
		if i, ok := c.lanes.index[name]; ok {
			next.setLane(e, i, s.Lanes[name])
		} else {
			e.Add(fmt.Sprintf("Lanes[%s]", name), name, "must be one of the lanes: "+c.lanes.names(true))
		}
	}
	if need, most := perNode(next.lanes), c.cfg.ClientPolicy.ConnectionQueueSize-1; need > most {
		e.Add("Lanes", fmt.Sprintf("%d in all", need), fmt.Sprintf("must be at most %d: of ConnectionQueueSize there are no more for calls", most))
	}
	next.readPolicy = s.Reads.change(e, "Reads", old.readPolicy)
	next.writePolicy = s.Writes.change(e, "Writes", old.writePolicy)
	if err := e.Err(); err != nil {
		return nil, err
	}
	if s.Reads != nil {
		next.reads = c.newRetrier(next.readPolicy)
	}
	if s.Writes != nil {
		next.writes = c.newRetrier(next.writePolicy)
	}
	return &next, nil
}

// setLane changes the lane i. A limit that no lane can have isn't taken over: what is
// added up afterwards are limits that there can be.
func (f *inForce) setLane(e *spillway.ConfigError, i int, l LaneSettings) {
	changed := &f.lanes[i]
	field := fmt.Sprintf("Lanes[%s]", changed.Name)
	switch {
	case l.Limit == 0: // stays
	case l.Limit < 0:
		e.Add(field+".Limit", l.Limit, "must be positive, or 0 to leave it")
	case l.Limit > limiter.MaxLimit:
		e.Add(field+".Limit", l.Limit, fmt.Sprintf("must be at most %d", limiter.MaxLimit))
	default:
		changed.Limit = l.Limit
	}
	if a := changed.Adaptive; a != nil {
		e.Include(field+".", a.Validate(changed.Limit))
	}
	switch {
	case l.Adaptive == nil: // stays
	case changed.Adaptive == nil:
		e.Add(field+".Adaptive", *l.Adaptive, "must be left out: nothing moves the lane's limit")
	case !l.Adaptive.Valid() || *l.Adaptive == spillway.RefuseAll:
		e.Add(field+".Adaptive", *l.Adaptive, "must be enforce, shadow or off")
	default:
		moved := *changed.Adaptive
		moved.Mode = *l.Adaptive
		changed.Adaptive = &moved
	}
	if l.Mode != nil {
		if !l.Mode.Valid() {
			e.Add(field+".Mode", *l.Mode, "must be enforce, shadow, off or refuse-all")
		}
		f.modes[i] = *l.Mode
	}
}

// change returns the policy with the settings in it. One that has no attempts retries
// nothing, and remembers its back-off until somebody says how many there are to be.
func (r *RetrySettings) change(e *spillway.ConfigError, field string, p retry.Policy) retry.Policy {
	if r == nil || *r == (RetrySettings{}) {
		return p
	}
	if p.MaxAttempts == 0 && (p.Base == 0 || p.Cap == 0) { // there was none: what isn't said is the default
		p = defaultRetry(retry.ReadPolicy(), cmp.Or(p.Name, strings.ToLower(field)))
		p.MaxAttempts = 0
	}
	if r.Attempts < 0 {
		e.Add(field+".Attempts", r.Attempts, "must be positive, or 0 to leave it")
	}
	if r.Attempts > 0 {
		p.MaxAttempts = r.Attempts
	}
	if r.Base != 0 {
		p.Base = time.Duration(r.Base)
	}
	if r.Cap != 0 {
		p.Cap = time.Duration(r.Cap)
	}
	checked := p
	if checked.MaxAttempts == 0 { // the rest has to be right all the same
		checked.MaxAttempts = retry.ReadPolicy().MaxAttempts
	}
	e.Include(field+".", checked.Validate())
	return p
}

// obey puts settings in force in every lane that there is. Lanes that are made later
// are made by those that are in force then. The settings were validated, so an error
// means that a lane can't be set at all: it names the lane, and the others have obeyed.
func (s *session) obey(f *inForce) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i, l := range f.lanes {
		if i == s.owner.lanes.admin {
			errs = append(errs, s.admin.SetLimit(l.Limit), s.admin.SetMode(f.modes[i]))
			continue
		}
		for _, g := range s.byName {
			if ctl := g.controllers[i]; ctl == nil {
				errs = append(errs, g.lanes[i].SetLimit(l.Limit))
			} else {
				errs = append(errs, steer(ctl, l))
			}
			errs = append(errs, g.lanes[i].SetMode(f.modes[i]))
		}
	}
	return errors.Join(errs...)
}

// steer has what moves the limit of a lane go by its settings. What is in force already
// isn't set again: it would note a change that is none.
func steer(ctl *adaptive.Controller, l LaneConfig) error {
	is := ctl.Stats()
	var errs []error
	if is.Static != l.Limit {
		errs = append(errs, ctl.SetStatic(l.Limit))
	}
	if is.Mode != l.Adaptive.Mode {
		errs = append(errs, ctl.SetMode(l.Adaptive.Mode))
	}
	return errors.Join(errs...)
}

// logApplied writes down what was changed.
func (c *core) logApplied(old, next *inForce) {
	attrs := []slog.Attr{slog.String("client", c.cfg.Name)}
	note := func(key string, from, to any) {
		if from != to {
			attrs = append(attrs, slog.String(key, fmt.Sprintf("%v → %v", from, to)))
		}
	}
	note("mode", old.mode, next.mode)
	for i, l := range next.lanes {
		note(l.Name+".limit", old.lanes[i].Limit, l.Limit)
		note(l.Name+".mode", old.modes[i], next.modes[i])
		if l.Adaptive != nil {
			note(l.Name+".adaptive", old.lanes[i].Adaptive.Mode, l.Adaptive.Mode)
		}
	}
	for _, r := range []struct {
		name     string
		from, to retry.Policy
	}{{"reads", old.readPolicy, next.readPolicy}, {"writes", old.writePolicy, next.writePolicy}} {
		note(r.name+".attempts", r.from.MaxAttempts, r.to.MaxAttempts)
		note(r.name+".base", r.from.Base, r.to.Base)
		note(r.name+".cap", r.from.Cap, r.to.Cap)
	}
	//nolint:forbidigo // settings belong to no call
	c.log.LogAttrs(context.Background(), slog.LevelInfo, "aerospike settings applied", attrs...)
}
